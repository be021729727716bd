/** What the tests of formats share. */
import { Effect, FileSystem, Result, Stream } from "effect"
import type { JsonRow } from "../../../src/dataset/file/Features.ts"
import type { FormatOptions } from "../../../src/dataset/format/TrainerFormat.ts"
import { type FormatName, formats } from "../../../src/dataset/format/TrainerFormats.ts"
import * as EncodedRow from "../../../src/dataset/file/EncodedRow.ts"
import * as JsonLine from "../../../src/dataset/file/JsonLine.ts"
import { validate } from "../../../src/dataset/format/Validate.ts"
import type { Message } from "../../../src/domain/Message.ts"
import type { PreferencePair } from "../../../src/domain/PreferencePair.ts"
import { pair } from "../../support/pairs.ts"

export const user = (content: string): Message => ({ role: "user", content })
export const assistant = (content: string): Message => ({ role: "assistant", content })
export const system = (content: string): Message => ({ role: "system", content })
export const tool = (content: string): Message => ({ role: "tool", content })

/** TRL's own example of a preference (docs/source/dataset_formats.md). */
export const sky = (members: Partial<PreferencePair> = {}) =>
  pair(1, { prompt: "The sky is", chosen: " blue.", rejected: " green.", ...members })

/** Everything that an encoder gives for these pairs. */
export const encode = (name: FormatName, pairs: ReadonlyArray<PreferencePair>, options?: FormatOptions) => {
  const encoder = formats[name].encoder(options)
  const results = [...pairs.flatMap(encoder.encode), ...encoder.end()]
  return {
    rows: results.filter(Result.isSuccess).map(({ success }) => success),
    omitted: results.filter(Result.isFailure).map(({ failure }) => failure),
  }
}

/** The field and reason for which a pair is refused; undefined where it is not. */
export const refusal = (name: FormatName, members: Partial<PreferencePair>) => {
  const [omission] = encode(name, [sky(members)]).omitted
  return omission === undefined ? undefined : `${omission.field}: ${omission.reason}`
}

/** The rows in a file that goes away with the test. */
export const written = Effect.fnUntraced(function* (
  name: FormatName,
  rows: ReadonlyArray<JsonRow>,
  options?: FormatOptions,
) {
  return yield* writtenText(
    rows
      .map(EncodedRow.encoder())
      .map(JsonLine.make(formats[name].features(options)))
      .join("\n") + "\n",
  )
})

export const writtenText = Effect.fnUntraced(function* (text: string | Uint8Array, fileName = "train.jsonl") {
  const fs = yield* FileSystem.FileSystem
  const path = `${yield* fs.makeTempDirectoryScoped()}/${fileName}`
  yield* fs.writeFile(path, typeof text === "string" ? new TextEncoder().encode(text) : text)
  return path
})

export const findings = (name: FormatName, path: string) => Stream.runCollect(validate(formats[name], path))

/** What the validator says of these lines, without the file's name. */
export const said = Effect.fnUntraced(function* (name: FormatName, lines: ReadonlyArray<string>) {
  const found = yield* findings(name, yield* writtenText(lines.join("\n") + "\n"))
  return found.map(({ expected, field, found, row, severity }) =>
    [`${row}: ${field ?? ""}: expected ${expected}, found ${found}`, ...(severity === "error" ? [] : [severity])].join(
      " ",
    ),
  )
})
