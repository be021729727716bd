/** Reads the same rows as `JsonLines`. A thread parses plain lines (`PlainLine`), whose rows also have `Row.plain`. */
import { Array as Arr, Cause, Context, Effect, type Pull, Result, type Scope, Stream } from "effect"
import type { ItemBytes } from "../../../domain/ItemBytes.ts"
import { LazyItem } from "../../../domain/LazyItem.ts"
import * as Lines from "../../../io/Lines.ts"
import * as Thread from "../../../node/Thread.ts"
import type { ReadInto } from "../../place/Input.ts"
import { InputAudit } from "../../place/InputAudit.ts"
import type { Place, Row, RowResult } from "../../record/Row.ts"
import { type SourceError, unreadable } from "../../record/SourceError.ts"
import * as JsonLines from "./JsonLines.ts"
import * as PlainLine from "./PlainLine.ts"
import type { Answer, Ask, Setup } from "./PlainStage.ts"

/** Whether items decode their completions on first access. Until then, an item keeps its `Answer.bytes` in memory. */
export const LazyItems = Context.Reference<boolean>("prefstream/source/LazyItems", { defaultValue: () => false })

const stage: Thread.StageModule<Setup, Ask, Answer> = {
  path: "source/format/json/PlainStage",
  load: () => import("./PlainStage.ts"),
}

const messageBytes = 512 * 1024

const maxHeldBytes = 1024 * 1024

const maxMessages = 4

const minFileBytes = 8 * 1024 * 1024

/** The thread does not check `maxLineBytes`. The limit must therefore allow all lines that the thread can parse. */
export const isWorthwhile = (size: number | undefined, maxLineBytes = Lines.defaultMaxLineBytes): boolean =>
  size !== undefined && size >= minFileBytes && maxLineBytes >= messageBytes + maxHeldBytes

export interface Sizes {
  readonly messageBytes: number
  readonly maxHeldBytes: number
}

class PlainPlace implements Place {
  readonly file: string
  readonly line: number
  readonly #id: PlainLine.Id
  readonly #isSpaced: boolean
  readonly #bytes: ItemBytes

  constructor(file: string, line: number, id: PlainLine.Id, isSpaced: boolean, bytes: ItemBytes) {
    this.file = file
    this.line = line
    this.#id = id
    this.#isSpaced = isSpaced
    this.#bytes = bytes
  }

  get raw(): string {
    return PlainLine.toText(this.#id, this.#isSpaced, this.#bytes)
  }
}

const withNumber = (id: number, item: LazyItem) => ({
  id,
  prompt: item.prompt,
  get completions() {
    return item.completions
  },
})

const toRow = (
  place: Place,
  id: PlainLine.Id,
  prompt: string,
  identity: { readonly bytes: ItemBytes; readonly contentHash: string; readonly itemId: string },
): Row => {
  const item = new LazyItem(id === undefined ? undefined : String(id), prompt, identity.bytes)
  const value = typeof id === "number" ? withNumber(id, item) : item
  return { place, value, isWellFormed: true, plain: { of: value, item, identity: { of: item, ...identity } } }
}

const reader = (file: string, options: Lines.LinesOptions | undefined) => {
  const others = new Lines.LineSplitter(file, options)
  const rowsOfOthers = () => others.take().map((line) => JsonLines.toRow(file, line))

  const read = ({
    bytes,
    contentHashes,
    ids,
    places,
    prompts,
    runs,
    sortedHashes,
  }: Answer): ReadonlyArray<RowResult> => {
    const rows: Array<RowResult> = []
    let item = 0
    let at = 0
    for (let run = 0; run < runs.length; run += 3) {
      for (const end = item + runs[run]!; item < end; item++) {
        const id = ids[item]
        const contentHash = contentHashes[item]!
        const utf8 = bytes.subarray(places[at], places[at + 1])
        const first = at + 4
        const next = first + places[at + 3]!
        const itemBytes: ItemBytes = { utf8, starts: Array.from(places.subarray(first, next)) }
        const place = new PlainPlace(file, others.skip(), id, places[at + 2] === 1, itemBytes)
        const itemId = id === undefined ? (sortedHashes[item] ?? contentHash) : String(id)
        rows.push(Result.succeed(toRow(place, id, prompts[item]!, { bytes: itemBytes, contentHash, itemId })))
        at = next
      }
      others.push(bytes.subarray(runs[run + 1], runs[run + 2]))
      for (const row of rowsOfOthers()) rows.push(row)
    }
    return rows
  }
  const end = () => {
    others.end()
    return rowsOfOthers()
  }
  return { read, end }
}

export const rows = (
  file: string,
  begin: Effect.Effect<ReadInto, SourceError, Scope.Scope>,
  options?: Lines.LinesOptions,
  sizes: Sizes = { messageBytes, maxHeldBytes },
): Stream.Stream<RowResult, SourceError> =>
  Effect.gen(function* () {
    const report = yield* InputAudit
    const readInto = yield* begin
    const answers: Array<Answer> = []
    const setup: Setup = { isDigested: report !== undefined, maxHeldBytes: sizes.maxHeldBytes }
    const thread = yield* Thread.make(stage, setup, { ahead: maxMessages, onAnswer: (answer) => answers.push(answer) })
    const failing = Effect.mapError((error: Thread.ThreadFailed) => unreadable(file, error.message, error.cause))
    const { end, read } = reader(file, options)
    const spare: Array<Uint8Array<ArrayBuffer>> = []
    let openMessages = 0
    let size = 0
    let isLast = false
    let failure: Effect.Effect<never, SourceError> | undefined

    const fill = Effect.gen(function* () {
      while (openMessages < maxMessages && !isLast) {
        const buffer = spare.pop() ?? new Uint8Array(sizes.messageBytes)
        const count = yield* Effect.catchCause(readInto(buffer), (cause) => {
          failure = Effect.failCause(cause)
          return Effect.succeed(0)
        })
        openMessages++
        size += count
        isLast = count === 0
        thread.send({ buffer, size: count, isLast }, [buffer.buffer])
      }
    })
    const next: Pull.Pull<Arr.NonEmptyReadonlyArray<RowResult>, SourceError> = Effect.gen(function* () {
      while (true) {
        yield* fill
        const answer = answers.shift()
        if (answer === undefined) {
          if (openMessages === 0) return yield* failure ?? Cause.done()
          yield* failing(openMessages < maxMessages ? thread.drain : thread.room)
          continue
        }
        openMessages--
        spare.push(answer.buffer)
        const rows = read(answer)
        const all = isLast && openMessages === 0 ? [...rows, ...end()] : rows
        if (answer.sha256 !== undefined && failure === undefined) {
          report?.({ file, bytes: size, sha256: answer.sha256 })
        }
        if (Arr.isReadonlyArrayNonEmpty(all)) return all
      }
    })
    return Stream.fromPull(Effect.succeed(next))
  }).pipe(Stream.unwrap)
