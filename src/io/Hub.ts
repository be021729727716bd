/** The address and the access token of the Hugging Face Hub, from the variables and the file of the Hub's own tools. */
import { Effect, FileSystem, Path, Redacted } from "effect"
import { variable } from "./Environment.ts"

export const endpoint = variable("HF_ENDPOINT")

export const isEndpoint = (text: string): boolean => /^https?:\/\/[^/@?#\s]+(\/[^@?#\s]*)?$/.test(text)

/** See https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables */
const tokenFile = Effect.gen(function* () {
  const { join } = yield* Path.Path
  const file = yield* variable("HF_TOKEN_PATH")
  if (file !== undefined) return file
  const cache = (yield* variable("XDG_CACHE_HOME")) ?? join((yield* variable("HOME")) ?? ".", ".cache")
  return join((yield* variable("HF_HOME")) ?? join(cache, "huggingface"), "token")
})

export const token = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const storedToken = Effect.orElseSucceed(fs.readFileString(yield* tokenFile), () => "")
  const text = ((yield* variable("HF_TOKEN")) ?? (yield* storedToken)).trim()
  return text === "" ? undefined : Redacted.make(text)
})

export const isToken = (token: Redacted.Redacted): boolean => Redacted.value(token).startsWith("hf_")
