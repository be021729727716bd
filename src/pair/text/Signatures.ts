/**
 * Stores prompts' signatures and the hashes of their normal forms. The latest 8 MB are in memory, and the earlier ones
 * in a scratch file. Run `room` often: when `room` has ended, at most 3 MB of prompts are in memory. Run `flush` before
 * `forEachBlock` and `read`. These two functions throw `ScratchFileFailed` if the file cannot be read.
 */
import { Effect, Exit, Scope } from "effect"
import * as ScratchFile from "../../node/ScratchFile.ts"
import * as Thread from "../../node/Thread.ts"
import * as MinHash from "./MinHash.ts"
import * as SignatureStage from "./SignatureStage.ts"

const { hashBytes, recordBytes } = SignatureStage

const firstRecords = 256
const maxRecords = 65_536

const batchPrompts = 256
const batchUnits = 262_144
/** The calling thread computes the first batches: starting another thread takes about as long as computing them. */
const firstBatches = 8
const ahead = 4

const stageModule = {
  path: "pair/text/SignatureStage",
  load: () => SignatureStage,
} satisfies Thread.StageModule<void, ReadonlyArray<string>, Uint8Array>

export const make = Effect.fnUntraced(function* (file: ScratchFile.ScratchFile) {
  const records = makeRecords(file)
  const scope = yield* Effect.scope
  let batches: Array<Array<string>> = [[]]
  let units = 0
  let computedBatches = 0
  let thread: { readonly scope: Scope.Closeable; readonly stage: Thread.Thread<ReadonlyArray<string>> } | undefined
  let answers: Array<Uint8Array> = []

  const computeHere = (batch: ReadonlyArray<string>) =>
    ScratchFile.attempt(() => records.append(SignatureStage.start()(batch).answer))

  const storeAnswers = ScratchFile.attempt(() => {
    const sent = answers
    answers = []
    sent.forEach(records.append)
  })

  const startThread = Effect.gen(function* () {
    const inner = yield* Scope.fork(scope)
    const onAnswer = (answer: Uint8Array) => void answers.push(answer)
    const stage = yield* Scope.provide(Thread.make(stageModule, undefined, { ahead, onAnswer }), inner)
    return (thread = { scope: inner, stage })
  })

  const room = Effect.gen(function* () {
    while (batches.length > 1) {
      if (computedBatches < firstBatches) {
        computedBatches++
        yield* computeHere(batches.shift()!)
        continue
      }
      const { stage } = thread ?? (yield* startThread)
      yield* stage.room
      stage.send(batches.shift()!)
      yield* storeAnswers
    }
  })

  const flush = Effect.gen(function* () {
    yield* room
    const last = batches[0]!
    batches = [[]]
    units = 0
    if (thread === undefined) return yield* computeHere(last)
    const { scope: inner, stage } = thread
    if (last.length > 0) stage.send(last)
    yield* stage.drain
    yield* storeAnswers
    thread = undefined
    yield* Scope.close(inner, Exit.void)
  })

  return {
    count: records.count,
    add: (prompt: string): void => {
      const last = batches.at(-1)!
      units += prompt.length
      if (last.push(prompt) < batchPrompts && units < batchUnits) return
      batches.push([])
      units = 0
    },
    room,
    flush,
    forEachBlock: records.forEachBlock,
    read: records.read,
  }
})
export type Signatures = Effect.Success<ReturnType<typeof make>>

const makeRecords = (file: ScratchFile.ScratchFile) => {
  let bytes = new Uint8Array(firstRecords * recordBytes)
  let view = new DataView(bytes.buffer)
  let waiting = 0
  let inFile = 0

  const makeRoom = () => {
    if (waiting * recordBytes < bytes.length) return
    if (waiting < maxRecords) {
      bytes = new Uint8Array(bytes.buffer.transfer(2 * bytes.length))
      view = new DataView(bytes.buffer)
    } else {
      file.append(bytes)
      inFile += waiting
      waiting = 0
    }
  }

  return {
    count: (): number => inFile + waiting,
    append: (records: Uint8Array): void => {
      for (let at = 0; at < records.length; at += recordBytes) {
        makeRoom()
        bytes.set(records.subarray(at, at + recordBytes), waiting * recordBytes)
        waiting++
      }
    },
    /** Visits all records in blocks. A block is valid only until the next one. */
    forEachBlock: (visit: (block: DataView, first: number, records: number) => void): void => {
      const block = new Uint8Array(inFile === 0 ? 0 : maxRecords * recordBytes)
      for (let first = 0; first < inFile; first += maxRecords) {
        file.readInto(block, first * recordBytes)
        visit(new DataView(block.buffer), first, maxRecords)
      }
      visit(view, inFile, waiting)
    },
    read: (ordinal: number, into: Uint8Array): void => {
      const at = (ordinal < inFile ? ordinal : ordinal - inFile) * recordBytes + hashBytes
      if (ordinal < inFile) file.readInto(into, at)
      else into.set(bytes.subarray(at, at + MinHash.signatureBytes))
    },
  }
}
