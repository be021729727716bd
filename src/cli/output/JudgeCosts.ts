/** Shows the costs of a job's language models. They are read from the file that stores the models' answers. */
import { Effect, FileSystem } from "effect"
import type { PaidRequests } from "../../domain/JudgeUsage.ts"
import { count } from "../../io/Values.ts"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import { type Rows, rowsOf } from "./Text.ts"

export const read = Effect.fnUntraced(function* (
  directory: string,
  file: string = JobFolder.judgeAnswers(directory),
): Effect.fn.Return<ReadonlyArray<PaidRequests>, never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* Effect.orElseSucceed(fs.exists(file), () => false))) return []
  const { readPaid } = yield* Effect.promise(() => import("../../service/expert/JudgeAnswers.ts"))
  return yield* readPaid(file)
})

export const rows = (judges: ReadonlyArray<PaidRequests>): Rows =>
  rowsOf(
    "judges",
    judges.map(
      ({ completion_tokens, cost, model, prompt_tokens, requests }) =>
        `${model}: ${count(requests, "request")}, ${count(prompt_tokens + completion_tokens, "token")}${cost === null ? "" : `, ${cost}`}`,
    ),
  )
