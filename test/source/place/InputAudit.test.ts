import { assert, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Stream } from "effect"
import { createHash } from "node:crypto"
import type { InputFile } from "../../../src/domain/InputFile.ts"
import { InputAudit } from "../../../src/source/place/InputAudit.ts"
import * as Source from "../../../src/source/Source.ts"

const item = (i: number) => `${JSON.stringify({ prompt: `p${i}`, completions: ["a", "b"] })}\n`

it.layer(NodeServices.layer)("files that were read", (it) => {
  it.effect("are reported with size, digest and number of records, each at its end", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const texts = [Array.from({ length: 20_000 }, (_, i) => item(i)).join(""), item(1), ""]
      const files = texts.map((_, i) => `${directory}/${i}.jsonl`)
      yield* Effect.forEach(files, (file, i) => fs.writeFileString(file, texts[i]!))
      const reported: Array<InputFile> = []
      yield* Stream.runDrain(Source.files(files).records).pipe(
        Effect.provideService(InputAudit, (input) => void reported.push(input)),
      )
      assert.deepStrictEqual(
        reported,
        texts.map((text, i) => ({
          file: files[i]!,
          bytes: Buffer.byteLength(text),
          records: text.split("\n").length - 1,
          sha256: createHash("sha256").update(text).digest("hex"),
        })),
      )
    }),
  )

  it.effect("are not reported where the reading stops before the end", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/a.jsonl`
      yield* fs.writeFileString(file, Array.from({ length: 20_000 }, (_, i) => item(i)).join(""))
      const reported: Array<InputFile> = []
      yield* Stream.runHead(Source.files(file).records).pipe(
        Effect.provideService(InputAudit, (input) => void reported.push(input)),
      )
      assert.deepStrictEqual(reported, [])
    }),
  )
})
