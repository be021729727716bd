/**
 * Makes the experts of a service. All judges store their answers in one file. Without a file in the settings, a
 * temporary file is used. Only one process at a time can use a file, so that no answer is paid for twice. Batches of
 * earlier processes are continued.
 */
import { Effect } from "effect"
import { HttpClient } from "effect/http"
import * as FileLock from "../../node/FileLock.ts"
import * as NodeHttpClient from "../../node/HttpClient.ts"
import * as JudgeAnswers from "./JudgeAnswers.ts"
import * as JudgeBatches from "./JudgeBatches.ts"
import * as JudgeExpert from "./JudgeExpert.ts"
import * as JudgeSettings from "./JudgeSettings.ts"
import * as ScriptedExperts from "./ScriptedExperts.ts"

const prefix = "judge:"

const judgeOf = Effect.fnUntraced(function* (
  model: string,
  settings: JudgeSettings.JudgeSettings,
  answers: JudgeAnswers.JudgeAnswers,
) {
  const options = yield* JudgeSettings.resolve(model, settings)
  const { batch = false } = settings
  const isBatching = batch !== false
  const batches =
    isBatching || (yield* JudgeBatches.exist(answers, options))
      ? yield* JudgeBatches.make(yield* HttpClient.HttpClient, options, answers, batch === true ? {} : batch || {})
      : undefined
  return yield* JudgeExpert.make(options, { answers, batches, isBatching })
})

export const make = Effect.fn("NamedExperts.make")(function* (
  experts: ReadonlyArray<ScriptedExperts.Expert | string>,
  settings: JudgeSettings.JudgeSettings = {},
) {
  const judges = experts.flatMap((expert) =>
    typeof expert === "string" && expert.startsWith(prefix) ? [expert.slice(prefix.length)] : [],
  )
  if (judges.length > 0 && settings.cache === undefined && (settings.batch ?? false) !== false) {
    return yield* new JudgeSettings.JudgeSettingsError({
      expert: `${prefix}${judges[0]}`,
      problem: "batches need a judge answer file; set `judge.cache`",
    })
  }
  if (judges.length > 0 && settings.cache !== undefined) yield* FileLock.acquire(settings.cache)
  const answers = judges.length > 0 ? yield* JudgeAnswers.open(settings.cache ?? "", settings.prices) : undefined
  const made: Array<ScriptedExperts.Expert> = []
  for (const expert of new Set(experts)) {
    if (typeof expert !== "string") made.push(expert)
    else if (answers === undefined || !expert.startsWith(prefix))
      made.push(yield* ScriptedExperts.parse(expert, settings))
    else made.push(yield* judgeOf(expert.slice(prefix.length), settings, answers))
  }
  return made
}, Effect.provide(NodeHttpClient.layer))
