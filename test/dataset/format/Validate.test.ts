import { assert, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { parquetWriteBuffer } from "hyparquet-writer"
import * as DatasetInfo from "../../../src/dataset/format/DatasetInfo.ts"
import { formats } from "../../../src/dataset/format/TrainerFormats.ts"
import { encode, findings, sky, written, writtenText } from "./support.ts"

const good = '{"chosen":"q\\n\\na","rejected":"q\\n\\nb"}'

it.layer(NodeServices.layer)("validate", (it) => {
  it.effect("reads any file, however its lines fall into chunks, and numbers them", () =>
    Effect.gen(function* () {
      const long = JSON.stringify({ chosen: `${"ä".repeat(300_000)}\n\na`, rejected: `${"ä".repeat(300_000)}\n\nb` })
      const lines = Array.from({ length: 5000 }, (_, i) => (i % 1000 === 999 ? long : good))
      lines[3456] = "{}"
      lines[4999] = '{"chosen":"q","rejected":"q"}'
      const path = yield* writtenText(lines.join("\n"))
      assert.deepStrictEqual(
        (yield* findings("trl-implicit", path)).map(({ message }) => message),
        [
          `${path}:3457: chosen: expected a value, found nothing`,
          `${path}:3457: rejected: expected a value, found nothing`,
          `${path}:5000: rejected: expected another text than chosen's, found "q"`,
        ],
      )
    }),
  )

  it.effect("tells of bytes that are not UTF-8, and reads on", () =>
    Effect.gen(function* () {
      const line = Buffer.from(`${good}\n`)
      const path = yield* writtenText(Buffer.concat([line, Buffer.from([0x22, 0xff, 0x22, 0x0a]), line]))
      assert.deepStrictEqual(
        (yield* findings("trl-implicit", path)).map(({ message }) => message),
        [`${path}:2: expected a JSON object, found bytes that are not UTF-8`],
      )
    }),
  )

  it.effect("knows the separator that a file was written with", () =>
    Effect.gen(function* () {
      const options = { separator: "\n---\n" }
      const { rows } = encode("trl-implicit", [sky({ chosen: "a", rejected: "b" })], options)
      const path = yield* written("trl-implicit", rows)
      assert.strictEqual((yield* findings("trl-implicit", path)).length, 1)
      assert.deepStrictEqual(yield* findings("trl-implicit", path, options), [])
    }),
  )

  it.effect("reads Parquet: texts as they are, rows by their number", () =>
    Effect.gen(function* () {
      const columns = (rejected: ReadonlyArray<string>) =>
        new Uint8Array(
          parquetWriteBuffer({
            columnData: [
              { name: "prompt", data: ["q", "\uFEFFq", "😀"], type: "STRING" },
              { name: "chosen", data: ["a", "\uFEFF", "a"], type: "STRING" },
              { name: "rejected", data: [...rejected], type: "STRING" },
            ],
            rowGroupSize: 2,
          }),
        )
      const fine = yield* writtenText(columns(["b", "b", "b"]), "train.parquet")
      assert.deepStrictEqual(yield* findings("verl", fine), [])
      const bad = yield* writtenText(columns(["b", "", "a"]), "train.parquet")
      assert.deepStrictEqual(
        (yield* findings("verl", bad)).map(({ message }) => message),
        [
          `${bad}:2: rejected: expected text, found ""`,
          `${bad}:3: rejected: expected another text than chosen's, found "a"`,
        ],
      )
      const broken = yield* writtenText("no Parquet", "train.parquet")
      assert.match(
        (yield* findings("verl", broken))[0]!.message,
        /:1: expected a JSON object, found a file that is not read as Parquet: /,
      )
    }),
  )

  it.effect.each(["jsonl", "parquet"])("fails where there is no file: %s", (ending) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(findings("verl", `/nowhere/train.${ending}`))
      assert.strictEqual(error.reason._tag, "NotFound")
    }),
  )
})

it.layer(NodeServices.layer)("dataset_info.json", (it) => {
  it.effect("names files and columns that are there, or is found out", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const info = `${directory}/dataset_info.json`
      const names = ["llamafactory-alpaca", "llamafactory-sharegpt", "llamafactory-kto"] as const
      for (const name of names) {
        const { rows } = encode(name, [sky()])
        yield* fs.writeFileString(`${directory}/${name}.jsonl`, `${JSON.stringify(rows[0])}\n`)
      }
      const entries = Object.fromEntries(names.map((name) => [name, formats[name].datasetInfo!(`${name}.jsonl`)]))
      // data/README.md, "Preference Dataset" of both forms and "KTO Dataset".
      assert.deepStrictEqual(entries, {
        "llamafactory-alpaca": {
          file_name: "llamafactory-alpaca.jsonl",
          ranking: true,
          columns: { prompt: "instruction", query: "input", system: "system", chosen: "chosen", rejected: "rejected" },
        },
        "llamafactory-sharegpt": {
          file_name: "llamafactory-sharegpt.jsonl",
          formatting: "sharegpt",
          ranking: true,
          columns: { messages: "conversations", chosen: "chosen", rejected: "rejected" },
        },
        "llamafactory-kto": {
          file_name: "llamafactory-kto.jsonl",
          formatting: "sharegpt",
          columns: { messages: "conversations", kto_tag: "kto_tag" },
        },
      })
      yield* fs.writeFileString(info, JSON.stringify(entries))
      assert.deepStrictEqual(yield* DatasetInfo.validate(info), [])

      const wrong = {
        a: formats["llamafactory-kto"].datasetInfo!("llamafactory-alpaca.jsonl"),
        b: formats["llamafactory-kto"].datasetInfo!("gone.jsonl"),
      }
      yield* fs.writeFileString(info, JSON.stringify(wrong))
      assert.deepStrictEqual(
        (yield* DatasetInfo.validate(info)).map(
          ({ expected, field, found }) => `${field}: expected ${expected}, found ${found}`,
        ),
        [
          'a.columns.messages: expected a column of llamafactory-alpaca.jsonl, found "conversations"',
          'a.columns.kto_tag: expected a column of llamafactory-alpaca.jsonl, found "kto_tag"',
          'b.file_name: expected a file that is there, found "gone.jsonl"',
        ],
      )
      yield* fs.writeFileString(info, "[]")
      assert.strictEqual((yield* DatasetInfo.validate(info)).length, 1)
    }),
  )
})
