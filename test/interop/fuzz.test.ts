/**
 * Files of every format with bytes cut, flipped and spliced: never a crash, a hang or a silent loss.
 *
 * A mutant either is read to its end, and then each record is an item, a duplicate or a reject; or the
 * reading ends with an error that names the file. In text, what stands before the first changed byte
 * is read as it was. In what has checksums or counts (gzip, zstd with a checksum, Parquet), nothing is
 * missing without an error.
 */
import { writeFileSync } from "node:fs"
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib"
import { assert, describe } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import fc from "fast-check"
import { content } from "../../src/domain/PromptItem.ts"
import * as Inspection from "../../src/pipeline/Inspection.ts"
import * as Source from "../../src/source/Source.ts"
import { cases } from "../support/cases.ts"
import { cli, quick, to } from "../support/cli.ts"
import * as Convert from "../support/convert.ts"
import { platform, temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const texts = [
  "plain words, and a comma",
  'a "quoted" word; a semicolon',
  "two\nlines, and a tab\tin them",
  "naïve — 😀 — 你好",
  "[brackets] {braces} \\ and a backslash",
]

const items = Array.from({ length: 40 }, (_, i) => ({
  id: `item-${i}`,
  prompt: `question ${i}: ${texts[i % texts.length]}`,
  completions: [
    `answer a of ${i}: ${texts[(i + 1) % texts.length]}`,
    `answer b of ${i}: ${texts[(i + 2) % texts.length]}`,
  ],
}))

const wide = items.map(({ completions, id, prompt }) => ({
  id,
  prompt,
  response_a: completions[0]!,
  response_b: completions[1]!,
}))
const long = items.flatMap(({ completions, id, prompt }) =>
  completions.map((response) => ({ prompt_id: id, prompt, response })),
)

interface Format {
  readonly file: string
  readonly bytes: Uint8Array
  /** Where each item's text ends, in bytes; empty where items do not stand one after another in text. */
  readonly ends?: ReadonlyArray<number>
  /** Whether a change can't go unnoticed: what is read without an error has every item. */
  readonly isChecked?: boolean
  /** Records that the whole has. */
  readonly records: number
}

/** Where each piece ends in all of them together. */
const endsOf = (pieces: ReadonlyArray<string>, start = 0): ReadonlyArray<number> => {
  let end = start
  return pieces.map((piece) => (end += Buffer.byteLength(piece)))
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text)
const jsonLines = items.map((item) => `${JSON.stringify(item)}\n`)
const elements = items.map((item, i) => `${i === 0 ? "[" : ","}\n${JSON.stringify(item)}`)
const csvText = Convert.csv(wide)
/** The header and each record: lines end with CR LF, and texts have LF alone. */
const csvRecords = csvText.split(/(?<=\r\n)/)
const zstdWithChecksum = (text: string | Uint8Array) =>
  zstdCompressSync(Buffer.from(text), { params: { [constants.ZSTD_c_checksumFlag]: 1 } })

const formats: ReadonlyArray<Format> = [
  { file: "items.jsonl", bytes: bytesOf(jsonLines.join("")), ends: endsOf(jsonLines), records: 40 },
  { file: "long.jsonl", bytes: bytesOf(Convert.jsonl(long)), records: 40 },
  { file: "items.json", bytes: bytesOf(`${elements.join("")}\n]\n`), ends: endsOf(elements), records: 40 },
  { file: "items-indented.json", bytes: bytesOf(Convert.json(items)), records: 40 },
  { file: "wide.csv", bytes: bytesOf(csvText), ends: endsOf(csvRecords).slice(1), records: 40 },
  { file: "long.csv", bytes: bytesOf(Convert.csv(long, ";")), records: 40 },
  { file: "wide.tsv", bytes: bytesOf(Convert.csv(wide, "\t")), records: 40 },
  { file: "items.parquet", bytes: Convert.parquet(items, 15), isChecked: true, records: 40 },
  { file: "wide.parquet", bytes: Convert.parquet(wide, 15), isChecked: true, records: 40 },
  { file: "items.jsonl.gz", bytes: gzipSync(jsonLines.join("")), isChecked: true, records: 40 },
  { file: "items.jsonl.zst", bytes: zstdWithChecksum(jsonLines.join("")), isChecked: true, records: 40 },
  { file: "items.jsonl.br", bytes: brotliCompressSync(jsonLines.join("")), records: 40 },
  { file: "wide.csv.gz", bytes: gzipSync(csvText), isChecked: true, records: 40 },
]

type Mutation =
  | { readonly kind: "cut"; readonly at: number }
  | { readonly kind: "flip"; readonly at: number; readonly bit: number }
  | { readonly kind: "splice"; readonly at: number; readonly remove: number; readonly insert: Uint8Array }
  | { readonly kind: "repeat"; readonly at: number; readonly from: number; readonly length: number }

/** `at` and `from` are shares of the file's length, out of a million. */
const place = fc.nat({ max: 999_999 })
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constant("cut" as const), at: place }),
  fc.record({ kind: fc.constant("flip" as const), at: place, bit: fc.nat({ max: 7 }) }),
  fc.record({
    kind: fc.constant("splice" as const),
    at: place,
    remove: fc.nat({ max: 40 }),
    insert: fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .constantFrom('"', "\n", "\r", "\0", "[", "{", "]", "}", ",", ";", "\\", '""', "\uFEFF", "\\ud800")
        .map(bytesOf),
    ),
  }),
  fc.record({ kind: fc.constant("repeat" as const), at: place, from: place, length: fc.nat({ max: 400 }) }),
)

const apply = (bytes: Uint8Array, mutation: Mutation): Uint8Array => {
  const at = Math.floor((mutation.at / 1e6) * bytes.length)
  switch (mutation.kind) {
    case "cut":
      return bytes.slice(0, at)
    case "flip": {
      const flipped = Uint8Array.from(bytes)
      if (at < flipped.length) flipped[at]! ^= 1 << mutation.bit
      return flipped
    }
    case "splice":
      return Buffer.concat([bytes.slice(0, at), mutation.insert, bytes.slice(at + mutation.remove)])
    case "repeat": {
      const from = Math.floor((mutation.from / 1e6) * bytes.length)
      return Buffer.concat([bytes.slice(0, at), bytes.slice(from, from + mutation.length), bytes.slice(at)])
    }
  }
}

const mutant = ({ bytes }: Format, mutations: ReadonlyArray<Mutation>): Uint8Array => mutations.reduce(apply, bytes)

/** How many bytes two files have in common at their beginning. */
const commonBeginning = (a: Uint8Array, b: Uint8Array): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return i
  return length
}

const contents = items.map(content)

/** Reads a mutant to its end, or to the error that ends it. */
const read = Effect.fnUntraced(function* (format: Format, bytes: Uint8Array) {
  const directory = yield* temporaryDirectory
  const file = `${directory}/${format.file}`
  writeFileSync(file, bytes)
  const rejects: Array<string> = []
  const outcome = yield* Inspection.inspect(Source.files(file), {
    show: Infinity,
    onReject: (reject) => Effect.sync(() => void rejects.push(reject.file)),
  }).pipe(Effect.result)
  const description = Option.map(
    yield* Effect.option(Source.files(file).summary!),
    ({ files }) => files[0]?.description,
  )
  return { file, outcome, rejects, description: Option.getOrUndefined(description) }
})

const property = (format: Format) =>
  fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) =>
    Effect.gen(function* () {
      const bytes = mutant(format, mutations)
      const { description, file, outcome, rejects } = yield* read(format, bytes)
      if (Result.isFailure(outcome)) {
        assert.include(outcome.failure.message, file)
        return
      }
      const found = outcome.success
      assert.strictEqual(found.read, found.items + found.duplicates + found.rejected)
      assert.strictEqual(rejects.length + found.duplicates + found.first.length, found.read)
      const seen = new Set(found.first.map(({ item }) => content(item)))
      if (format.ends !== undefined) {
        const whole = commonBeginning(format.bytes, bytes)
        const before = format.ends.filter((end) => end < whole).length
        // What stands right before the change may be refused together with it.
        const last = Math.max(before - (rejects.length > 0 ? 1 : 0), 0)
        for (const untouched of contents.slice(0, last)) assert.isTrue(seen.has(untouched), untouched)
      }
      // What does not begin as the format does is no file of it any more, but a few bytes of text, say.
      if (format.isChecked === true && commonBeginning(format.bytes, bytes) >= 4) {
        // What is left of it may be no more than a few bytes of text: then these are refused.
        if (found.rejected === 0) assert.isAtLeast(found.read, format.records)
      }
      // A line that is broken after its first brace makes one record of several lines.
      if (format.file === "items.jsonl" && description === "JSONL") {
        const lines = Buffer.from(bytes)
          .toString("latin1")
          .replace(/^\xEF\xBB\xBF/, "")
          .split("\n")
        assert.strictEqual(found.read, lines.filter((line) => /[^\t\v\f\r \xa0]/.test(line)).length)
      }
    }).pipe(Effect.scoped, Effect.provide(platform), Effect.runPromise),
  )

describe("mutants of files", () => {
  for (const format of formats) {
    test(
      `of ${format.file} lose nothing in silence`,
      () =>
        Effect.gen(function* () {
          const { outcome } = yield* read(format, format.bytes)
          const whole = Result.getOrThrow(outcome)
          assert.deepStrictEqual([whole.read, whole.items], [format.records, 40])
          assert.deepStrictEqual(whole.first.map(({ item }) => content(item)).toSorted(), contents.toSorted())
          yield* Effect.promise(() => fc.assert(property(format), { numRuns: cases(12, 150) }))
        }),
      300_000,
    )
  }

  for (const format of formats) {
    test(
      `of ${format.file} add up in a job's report`,
      () =>
        Effect.gen(function* () {
          const service = yield* ScriptedService.make(ScriptedService.obliging)
          for (const mutations of fc.sample(fc.array(mutation, { minLength: 1, maxLength: 3 }), cases(1, 6))) {
            const job = yield* temporaryDirectory
            const file = `${job}/${format.file}`
            writeFileSync(file, mutant(format, mutations))
            const said = yield* cli(["submit", file, "--dir", job, "--json", ...quick], to(service))
            // 2: the layout can't be told any more.
            assert.include([0, 1, 2], said.status, `${JSON.stringify(mutations)}\n${said.stderr}`)
            if (said.stdout === "") assert.include(said.stderr, file)
            else {
              const { duplicates, known, read, rejected, submitted } = JSON.parse(said.stdout)
              assert.strictEqual(read, submitted + duplicates + rejected + known, said.stdout)
            }
          }
        }),
      300_000,
    )
  }
})
