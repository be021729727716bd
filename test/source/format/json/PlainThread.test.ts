import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, FileSystem, Result, Stream } from "effect"
import * as fc from "fast-check"
import type { InputFile } from "../../../../src/domain/InputFile.ts"
import type { SourceItem } from "../../../../src/domain/PromptItem.ts"
import type { Reject } from "../../../../src/domain/Reject.ts"
import { Threads } from "../../../../src/node/Thread.ts"
import * as JsonLines from "../../../../src/source/format/json/JsonLines.ts"
import * as PlainThread from "../../../../src/source/format/json/PlainThread.ts"
import * as MakeLayout from "../../../../src/source/layout/MakeLayout.ts"
import { audited, InputAudit } from "../../../../src/source/place/InputAudit.ts"
import type { RowResult } from "../../../../src/source/record/Row.ts"
import { SourceError, unreadable } from "../../../../src/source/record/SourceError.ts"
import * as Source from "../../../../src/source/Source.ts"
import { identify } from "../../../../src/task/plan/TaskRequests.ts"
import { cases } from "../../../support/cases.ts"
import { importedByThreads } from "../../../support/threads.ts"
import { test, writeFiles } from "../../support.ts"

const utf8 = (text: string) => Buffer.from(text)

const lone = "\ud800"
const texts = fc.oneof(
  { weight: 30, arbitrary: fc.string({ unit: "grapheme", maxLength: 20 }) },
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(
    ...Array.from(' \u3000\u00a0\ufeff\u0000\u0001\u007f\u2028\uffff\ue000\\"😀é'),
    lone,
    `a${lone}b`,
    "",
    "\ufeffa",
    'a"b\\c/d\n\t\r\b\f',
    "NaN",
    "<image>",
    "[assistant]\nx",
    '","',
    "]}",
    '"prompt"',
    "x".repeat(300),
  ),
)

const ids = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 30 }).map((i) => JSON.stringify(`id-${i}`)) },
  texts.map((text) => JSON.stringify(text)),
  fc.constantFrom(
    ..."0 7 12 345 07 -0 -3 1.5 1e3 9007199254740993 123456789012345 1234567890123456 null true [] {}".split(" "),
  ),
  fc.constantFrom(200, 201, 400).map((length) => JSON.stringify("i".repeat(length))),
)

/** JSON of a text, as different writers have it. */
const json = (text: string, how: string): string => {
  const usual = JSON.stringify(text)
  switch (how) {
    case "ascii":
      return usual.replaceAll(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
    case "slashes":
      return usual.replaceAll("/", "\\/")
    case "raw":
      return `"${text}"`
    default:
      return usual
  }
}

const plain = fc
  .record({
    id: fc.option(ids),
    prompt: fc.oneof({ weight: 4, arbitrary: texts.map((text) => `p${text}`) }, texts),
    completions: fc.oneof(
      { weight: 5, arbitrary: fc.array(texts, { minLength: 2, maxLength: 4 }).map((all) => ["a", ...all, "b"]) },
      fc.array(texts, { maxLength: 4 }),
      texts.map((text) => [text, text]),
    ),
    how: fc.constantFrom("usual", "usual", "usual", "usual", "ascii", "slashes", "raw"),
    isUniform: fc.constantFrom(true, true, true, false),
    comma: fc.constantFrom(",", ",", ", ", ", ", " ,"),
    colon: fc.constantFrom(":", ":", ": "),
    extra: fc.constantFrom(
      ...Array.from({ length: 40 }, () => ""),
      ',"id":"again"',
      ', "models": ["m", "n"]',
      ',"metadata":{"a":1}',
      ',"context":"x"',
      ',"prompt":"again"',
      ',"tools":[]',
      " ",
      ',"gold":null',
    ),
  })
  .map(({ colon, comma, completions, extra, how, id, isUniform, prompt }) => {
    const [c, d] = isUniform ? (comma === "," ? [",", ":"] : [", ", ": "]) : [comma, colon]
    const all = completions.map((text) => json(text, how)).join(c)
    return `{${id === null ? "" : `"id"${d}${id}${c}`}"prompt"${d}${json(prompt, how)}${c}"completions"${d}[${all}]${extra}}`
  })

const others = fc.constantFrom(
  "",
  " ",
  "\ufeff",
  "{}",
  "[]",
  "x",
  '{"prompt":"p"',
  '{"prompt":',
  '{"id":',
  '{"id":"',
  '{"id":"a","prompt":"p","completions":["a","b"]',
  '{"prompt":"p\\',
  "NaN",
  '{"id":NaN,"prompt":"p","completions":["a","b"]}',
  '{"prompt":["x"],"completions":["a","b"]}',
  '{"prompt":"p","completions":["a",{"role":"assistant","content":"b"}]}',
  '{"prompt":"p","completions":["a","\t"]}',
  '\ufeff{"prompt":"p","completions":["a","b"]}',
  '{"prompt":"p","completions":["a","b",]}',
  '{"prompt":"p" ,"completions":["a","b"]}',
  '{"prompt":"p","completions":["a","b"]}\r',
  `{"prompt":"p","completions":["a","${"long ".repeat(60)}"]}`,
)

const lines = fc.oneof(
  { weight: 6, arbitrary: plain.map(utf8) },
  others.map(utf8),
  fc.tuple(plain, fc.nat(200), fc.nat(255)).map(([text, at, byte]) => {
    const bytes = utf8(text)
    bytes[at % bytes.length] = byte
    return bytes
  }),
  fc.tuple(plain, fc.nat(200)).map(([text, at]) => utf8(text).subarray(0, at)),
)

const files = fc
  .record({
    mark: fc.constantFrom("", "", "", "\ufeff"),
    lines: fc.array(fc.tuple(lines, fc.constantFrom("\n", "\n", "\n", "\r\n", "\n\n")), { maxLength: 12 }),
    isEnded: fc.boolean(),
  })
  .map(({ isEnded, lines, mark }) => {
    const bytes = Buffer.concat([utf8(mark), ...lines.flatMap(([line, end]) => [line, utf8(end)])])
    return isEnded ? bytes : bytes.subarray(0, bytes.lastIndexOf(10))
  })

const layouts = [{}, { ignore: ["id"] }, { ignore: ["context"] }, { metadata: "metadata" }, { system: "id" }].map(
  (options) => {
    const layout = Result.getOrThrow(MakeLayout.make({ layout: "items", ...options }))
    return layout.reads === "items" ? layout.toRecord : assert.fail("expected items")
  },
)

const shown = (record: Result.Result<SourceItem, Reject>) =>
  Result.match(record, {
    onFailure: (reject) => reject,
    onSuccess: (source) => {
      const { bytes, item, ...rest } = identify(source)
      return { ...rest, item: { ...item }, utf8: Buffer.from(bytes.utf8).toString(), starts: bytes.starts }
    },
  })

const hasLoneSurrogate = (value: unknown): boolean => {
  let isFound = false
  JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === "string" && !part.isWellFormed()) isFound = true
    return part
  })
  return isFound
}

/** All that anybody can learn of a row. `isWellFormed` may be false of a well-formed row, which is then checked again. */
const told = (row: RowResult) => ({
  isPlain: Result.isSuccess(row) && row.success.plain !== undefined,
  records: layouts.map((toRecord) => shown(Result.flatMap(row, toRecord))),
  row: Result.map(row, ({ isWellFormed, place, value }) => ({
    isFalselyWellFormed: isWellFormed === true && hasLoneSurrogate(value),
    raw: place.raw,
    value: JSON.stringify(value),
  })),
})

const chunked = (bytes: Uint8Array, size: number) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size)),
  )

interface Sizes extends PlainThread.Sizes {
  readonly chunk: number
}

const sizes: fc.Arbitrary<Sizes> = fc.record({
  chunk: fc.integer({ min: 1, max: 300 }),
  messageBytes: fc.constantFrom(1, 7, 64, 200, 1000, 100_000),
  maxHeldBytes: fc.constantFrom(0, 50, 300, 100_000),
})

type Reader = (
  bytes: Uint8Array,
  chunk: number,
  end?: Effect.Effect<number, SourceError>,
) => Stream.Stream<RowResult, SourceError>

const usual: Reader = (bytes, chunk, end = Effect.succeed(0)) =>
  chunked(bytes, chunk).pipe(Stream.concat(Stream.fromEffectDrain(end)), audited("f"), JsonLines.rows("f"))

const byStage =
  (sizes: PlainThread.Sizes): Reader =>
  (bytes, chunk, end = Effect.succeed(0)) =>
    PlainThread.rows(
      "f",
      Effect.sync(() => {
        let at = 0
        return (buffer) => {
          const part = bytes.subarray(at, at + Math.min(chunk, buffer.length))
          buffer.set(part)
          at += part.length
          return part.length === 0 ? end : Effect.succeed(part.length)
        }
      }),
      undefined,
      sizes,
    )

const both = (bytes: Uint8Array, { chunk, ...sizes }: Sizes) =>
  Effect.all(
    [usual, byStage(sizes)].map((reader) => {
      let found: InputFile | undefined
      return reader(bytes, chunk).pipe(
        Stream.map(told),
        Stream.runCollect,
        Effect.provideService(InputAudit, (file) => void (found = file)),
        Effect.map((rows) => ({ rows, found })),
      )
    }),
  )

describe("plain lines", () => {
  it("are read as all other lines are, in messages of any size", async () => {
    let plain = 0
    let all = 0
    await fc.assert(
      fc.asyncProperty(files, sizes, async (bytes, sizes) => {
        const [usual, threaded] = await Effect.runPromise(Effect.provideService(both(bytes, sizes), Threads, "never"))
        const isPlain = threaded!.rows.map(({ isPlain }) => isPlain)
        assert.deepStrictEqual(
          threaded!.rows,
          usual!.rows.map((row, i) => ({ ...row, isPlain: isPlain[i]! })),
        )
        assert.deepStrictEqual(threaded!.found, usual!.found)
        plain += isPlain.filter((is) => is).length
        all += isPlain.length
      }),
      { numRuns: cases(300, 20_000) },
    )
    assert.isAbove(plain, all / 10)
  }, 600_000)

  const everyLine = fc.sample(lines, { numRuns: 300, seed: 7 })
  const large = Buffer.concat([
    utf8("\ufeff"),
    ...Array.from({ length: 13_000 }, (_, i) => [
      i % 9 === 3
        ? everyLine[i % everyLine.length]!
        : utf8(JSON.stringify({ id: `id-${i}`, prompt: `p${i}`, completions: ["x".repeat(800), `é${i}`] })),
      utf8(i % 1000 === 5 ? "\r\n" : "\n"),
    ]).flat(),
  ])
  const first = utf8(`${JSON.stringify({ id: "first", prompt: "p", completions: ["a", "b"] })}\n`.repeat(100))

  const readAll = Effect.fn(function* (files: ReadonlyArray<string>, isLazy: boolean) {
    const inputs: Array<InputFile> = []
    const plain: Array<boolean> = []
    const records = yield* Source.files(files).records.pipe(
      Stream.map((record) => {
        plain.push(Result.isSuccess(record) && record.success.identity !== undefined)
        return shown(record)
      }),
      Stream.runCollect,
      Effect.provideService(InputAudit, (file) => void inputs.push(file)),
      Effect.provideService(PlainThread.LazyItems, isLazy),
    )
    return { records, inputs, plain: plain.filter((is) => is).length }
  })

  test("of large files are read in a thread, with the same records and digests", function* () {
    const names = yield* writeFiles({
      "1.jsonl": first,
      "2.jsonl": large.subarray(0, -1),
      "3.jsonl": "",
      "4.jsonl": first.subarray(0, -1),
    })
    const usual = yield* readAll(names, false)
    const threaded = yield* readAll(names, true)
    assert.deepStrictEqual(threaded.records, usual.records)
    assert.deepStrictEqual(threaded.inputs, usual.inputs)
    assert.deepStrictEqual([usual.plain, threaded.plain > 10_000], [0, true])
    const alone = yield* Effect.provideService(readAll(names, true), Threads, "never")
    assert.deepStrictEqual([alone.plain, alone.records.length], [0, usual.records.length])
  })

  test("a file that fails gives the records before, and its error", function* () {
    const failed = unreadable("f", "it broke")
    const outcomes = yield* Effect.forEach([usual, byStage({ messageBytes: 1000, maxHeldBytes: 0 })], (reader) => {
      const read: Array<unknown> = []
      return reader(large.subarray(0, 50_000), 999, Effect.fail(failed)).pipe(
        Stream.runForEach((row) => Effect.sync(() => read.push(Result.map(row, ({ place }) => place.raw)))),
        Effect.exit,
        Effect.map((exit) => ({ exit, read })),
      )
    })
    assert.deepStrictEqual(outcomes[1]!.exit, Exit.fail(failed))
    assert.deepStrictEqual(outcomes[1], outcomes[0])
  })

  test("a file that becomes shorter while it is read is an error", function* () {
    const fs = yield* FileSystem.FileSystem
    const [name = ""] = yield* writeFiles({ "a.jsonl": Buffer.concat([first, large]) })
    const error = yield* Source.files(name).records.pipe(
      Stream.mapArrayEffect((records) => Effect.as(fs.truncate(name, 1000), records)),
      Stream.runDrain,
      Effect.provideService(PlainThread.LazyItems, true),
      Effect.flip,
    )
    assert.instanceOf(error, SourceError)
    assert.include(error.message, "the file became shorter while it was read")
  })

  test("a thread that ends too early is an error that names the file", function* () {
    const [name = ""] = yield* writeFiles({ "a.jsonl": Buffer.concat([first, large]) })
    yield* Effect.acquireRelease(
      Effect.sync(() => importedByThreads(new URL("../../fixtures/endingThread.ts", import.meta.url))),
      (restore) => Effect.sync(restore),
    )
    const error = yield* Effect.flip(readAll([name], true))
    assert.include(error.message, `${name}: cannot be read: the thread source/format/json/PlainStage ended`)
  })

  test.live("a reader that is interrupted, or wants no more, ends the thread", function* () {
    const [name = ""] = yield* writeFiles({ "a.jsonl": Buffer.concat([first, large]) })
    const threads = () => process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length
    const before = threads()
    const started = yield* Deferred.make<void>()
    const records = Source.files(name).records.pipe(Stream.provideService(PlainThread.LazyItems, true))
    const reader = yield* records.pipe(
      Stream.runForEach(() => Effect.andThen(Deferred.succeed(started, undefined), Effect.never)),
      Effect.forkChild,
    )
    yield* Deferred.await(started)
    assert.isAbove(threads(), before)
    yield* Fiber.interrupt(reader)
    assert.strictEqual(threads(), before)
    assert.lengthOf(yield* Stream.runCollect(Stream.take(records, 200)), 200)
    assert.strictEqual(threads(), before)
  })
})
