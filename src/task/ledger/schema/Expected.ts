/**
 * A summary of a task's request: the hash of the prompts, and the number of completions of each prompt. `isMetBy`
 * compares results with the summary, so that the request need not be parsed. If the results do not match the summary,
 * `ResultMatch` compares the results with the whole request.
 */
import { Schema } from "effect"
import type { ResultItem } from "../../../domain/Task.ts"
import * as Sha256 from "../../../node/Sha256.ts"

export const Expected = Schema.Struct({
  /** SHA-256 of the JSON array of the prompts. */
  prompts_sha256: Schema.String,
  completions: Schema.Array(Schema.Int),
})
export type Expected = typeof Expected.Type

const hashOf = (prompts: ReadonlyArray<{ readonly prompt: string }>): string =>
  Sha256.hex(JSON.stringify(prompts.map(({ prompt }) => prompt)))

export const encode = (
  prompts: ReadonlyArray<{ readonly prompt: string; readonly completions: { readonly length: number } }>,
): string => {
  const expected: Expected = {
    prompts_sha256: hashOf(prompts),
    completions: prompts.map(({ completions }) => completions.length),
  }
  return JSON.stringify(expected)
}

export const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Expected))

export const isMetBy = (
  { completions, prompts_sha256 }: Expected,
  results: ReadonlyArray<Pick<ResultItem, "prompt" | "best_completion_index">>,
): boolean =>
  results.length === completions.length &&
  results.every(({ best_completion_index: best }, i) => best !== null && best >= 0 && best < completions[i]!) &&
  hashOf(results) === prompts_sha256

export interface OfTask {
  readonly expected: Expected
  readonly asks: number
}
