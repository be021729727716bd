import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { parquetWriteBuffer } from "hyparquet-writer"
import { format } from "../../../src/dataset/file/Finding.ts"
import { formats } from "../../../src/dataset/format/TrainerFormats.ts"
import { encode, findings, sky, writtenText } from "./support.ts"
import { test } from "../support.ts"

const good = '{"chosen":"q\\n\\na","rejected":"q\\n\\nb"}'

describe("validate", () => {
  test("reads any file, however its lines fall into chunks, and numbers them", function* () {
    const long = JSON.stringify({ chosen: `${"ä".repeat(300_000)}\n\na`, rejected: `${"ä".repeat(300_000)}\n\nb` })
    const lines = Array.from({ length: 5000 }, (_, i) => (i % 1000 === 999 ? long : good))
    lines[3456] = "{}"
    lines[4999] = '{"chosen":"q","rejected":"q"}'
    const path = yield* writtenText(lines.join("\n"))
    assert.deepStrictEqual((yield* findings("trl-implicit", path)).map(format), [
      `${path}:3457: chosen: expected a value, found nothing`,
      `${path}:3457: rejected: expected a value, found nothing`,
      `${path}:5000: rejected: expected a text that differs from \`chosen\`, found "q"`,
    ])
  })

  test("tells of bytes that are not UTF-8, and reads on", function* () {
    const line = Buffer.from(`${good}\n`)
    const path = yield* writtenText(Buffer.concat([line, Buffer.from([0x22, 0xff, 0x22, 0x0a]), line]))
    assert.deepStrictEqual((yield* findings("trl-implicit", path)).map(format), [
      `${path}:2: expected a JSON object, found bytes that are not UTF-8`,
    ])
  })

  test("reads Parquet: texts as they are, rows by their number", function* () {
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
    assert.deepStrictEqual((yield* findings("verl", bad)).map(format), [
      `${bad}:2: rejected: expected text, found ""`,
      `${bad}:3: rejected: expected a text that differs from \`chosen\`, found "a"`,
    ])
    const broken = yield* writtenText("no Parquet", "train.parquet")
    assert.match(
      format((yield* findings("verl", broken))[0]!),
      /:1: expected a JSON object, found a file that cannot be read as Parquet: /,
    )
  })

  test.each(["jsonl", "parquet"])("fails where there is no file: %s", function* (ending) {
    const error = yield* Effect.flip(findings("verl", `/nowhere/train.${ending}`))
    assert.strictEqual(error.reason._tag, "NotFound")
  })
})

it("names the columns of LLaMA-Factory's files in dataset_info.json", () => {
  const names = ["llamafactory-alpaca", "llamafactory-sharegpt", "llamafactory-kto"] as const
  for (const name of names) {
    const columns = Object.values(Object(formats[name].datasetInfo!(`${name}.jsonl`)["columns"]))
    const [row] = encode(name, [sky()]).rows
    assert.includeMembers(Object.keys(row!), columns)
  }
  // data/README.md, "Preference Dataset" of both forms and "KTO Dataset".
  assert.deepStrictEqual(Object.fromEntries(names.map((name) => [name, formats[name].datasetInfo!(`${name}.jsonl`)])), {
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
})

it("names the options that OpenRLHF has since 0.10.2", () => {
  // openrlhf/cli/train_rm.py: parser.add_argument("--data.prompt_key"), ("--data.apply_chat_template")
  const [text, conversational] = [formats.openrlhf.description, formats["openrlhf-conversational"].description]
  for (const description of [text, conversational]) assert.include(description, "--data.prompt_key prompt")
  assert.include(conversational, "--data.apply_chat_template")
  assert.notMatch(text + conversational, /--(apply_chat_template|prompt_key)/)
})
