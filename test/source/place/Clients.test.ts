import { fileURLToPath } from "node:url"
import { assert } from "@effect/vitest"
import { Stream } from "effect"
import { ChildProcess } from "effect/process"
import { test } from "./support.ts"

for (const [name, client] of [
  ["s3://data/a.jsonl", "@aws-sdk/client-s3"],
  ["gs://data/a.jsonl", "google-auth-library"],
  ["hf://datasets/ada/preferences/a.jsonl", "@huggingface/hub"],
] as const) {
  test(`${client} is asked for where it is not installed`, function* () {
    const script = fileURLToPath(new URL("fixtures/withoutClient.ts", import.meta.url))
    const child = yield* ChildProcess.make(process.execPath, ["--no-warnings", script, name, client], {
      stderr: "inherit",
    })
    const text = yield* child.stdout.pipe(Stream.decodeText(), Stream.mkString)
    assert.isTrue(text.startsWith(`${name}: cannot be read: to read from `), text)
    assert.isTrue(text.endsWith(`, install its client: npm install ${client}\n`), text)
  })
}
