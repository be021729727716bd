import { assert, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Result, Schema, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import { refuse, rowPerPair, type TrainerFormat } from "../../src/dataset/format/TrainerFormats.ts"
import { pair } from "../support/pairs.ts"

/** Only the better completion, in upper case. */
const shouted: TrainerFormat = {
  name: "shouted",
  description: "The better completion, in upper case",
  container: "jsonl",
  features: () => ({ text: "string" }),
  encoder: rowPerPair(({ chosen }) =>
    chosen.includes("?")
      ? refuse("chosen", "a text without a question mark", chosen)
      : Result.succeed({ text: chosen.toUpperCase() }),
  ),
  row: Schema.Struct({ text: Schema.String }),
}

it.layer(NodeServices.layer)("a trainer format of the user's own", (it) => {
  it.effect("is written beside those of the package, with what it can't hold", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = `${yield* fs.makeTempDirectoryScoped()}/dataset`
      const pairs = Stream.make(pair(0, { chosen: "yes" }), pair(1, { chosen: "why?" }))
      const { formats } = yield* Stream.run(pairs, Dataset.write({ directory, formats: [shouted, "trl"] }))
      assert.strictEqual(yield* fs.readFileString(`${directory}/formats/shouted/train.jsonl`), '{"text":"YES"}\n')
      assert.deepStrictEqual(
        formats.map(({ format, omitted, rows }) => [format, rows, omitted.first.map(({ reason }) => reason)]),
        [
          ["shouted", 1, ["expected a text without a question mark, found why?"]],
          ["trl", 2, []],
        ],
      )
      assert.include(yield* fs.readFileString(`${directory}/README.md`), shouted.description)
      assert.deepStrictEqual((yield* Dataset.verify(directory)).findings, [])
    }),
  )

  it.effect("has the members that each row has, also null and __proto__, whichever rows are beside it", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const rows = ['{"note":null}', "{}", '{"note":{"__proto__":1,"x":2}}']
      const noted: TrainerFormat = {
        ...shouted,
        name: "noted",
        features: () => ({}),
        encoder: rowPerPair(({ chosen }) => Result.succeed(JSON.parse(chosen))),
        row: Schema.Record(Schema.String, Schema.Unknown),
      }
      const write = Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
        const directory = `${yield* fs.makeTempDirectoryScoped()}/dataset`
        const pairs = Stream.fromIterable(lines.map((chosen, i) => pair(i, { chosen })))
        yield* Stream.run(pairs, Dataset.write({ directory, formats: [noted] }))
        return (yield* fs.readFileString(`${directory}/formats/noted/train.jsonl`)).trimEnd().split("\n")
      })
      assert.deepStrictEqual(yield* write(rows.slice(0, 2)), rows.slice(0, 2))
      assert.deepStrictEqual((yield* write(rows)).toSorted(), rows.toSorted())
    }),
  )

  it.effect.each([
    ["../outside", [{ ...shouted, name: "../outside" }]],
    ["trl", ["trl" as const, { ...shouted, name: "trl" }]],
  ] satisfies ReadonlyArray<readonly [string, NonNullable<Dataset.Options["formats"]>]>)(
    "must have a name of its own that is a folder's: %s",
    ([name, formats]) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const directory = `${yield* fs.makeTempDirectoryScoped()}/dataset`
        const error = yield* Effect.flip(Stream.run(Stream.make(pair(0)), Dataset.write({ directory, formats })))
        assert.strictEqual(error.reason._tag, "OptionInvalid")
        assert.include(error.message, name)
        assert.isFalse(yield* fs.exists(directory))
      }),
  )
})
