/** Reads a batch's results. `hasUnreadable` is true if a successful, and thus paid, response cannot be read. */
import { Effect, Result } from "effect"
import type { BatchLine } from "./BatchClient.ts"
import type { Answer } from "./JudgeAnswers.ts"
import * as JudgeFailure from "./JudgeFailure.ts"
import { JudgeFailed, type RequestContext } from "./JudgeFailure.ts"
import * as JudgeHttp from "./JudgeHttp.ts"

export const failed = ({ baseUrl }: RequestContext, fault: JudgeFailed["fault"], why: string) =>
  new JudgeFailed({ fault, problem: `${baseUrl} did not answer one of the requests in a batch: ${why}` })

const resultOf = Effect.fnUntraced(function* (
  { error, response }: BatchLine,
  context: RequestContext,
  hasAnswered: boolean,
) {
  if (response === null || response === undefined)
    return yield* failed(context, "Moment", error?.code ?? error?.message ?? "no reason given")
  const { body, status_code: status } = response
  if (JudgeHttp.isOk(status)) return yield* JudgeHttp.completionOf(body, context, true)
  return yield* yield* JudgeFailure.fromStatus({ status, body }, context, hasAnswered)
})

export const read = Effect.fnUntraced(function* (lines: ReadonlyArray<BatchLine>, context: RequestContext) {
  const hasAnswered = lines.some(({ response }) => response?.status_code === 200)
  const byRequest = new Map<string, Result.Result<Answer, JudgeFailed>>()
  let hasUnreadable = false
  for (const line of lines) {
    const result = yield* Effect.result(resultOf(line, context, hasAnswered))
    if (Result.isFailure(result) && JudgeHttp.isOk(line.response?.status_code ?? 0)) hasUnreadable = true
    else byRequest.set(line.custom_id, result)
  }
  return { byRequest, hasUnreadable }
})
