/** The key of a language model's endpoint has no flag, because other users of the machine can read a command line. */
import { Effect, Schema } from "effect"
import { type Command, Flag } from "effect/cli"
import * as TokenPrice from "../../domain/TokenPrice.ts"
import { defaults } from "../../service/expert/JudgeEndpoint.ts"
import type { JudgeSettings } from "../../service/expert/JudgeSettings.ts"
import { asUsageError } from "../output/ExitStatus.ts"
import { inGroup } from "./Definition.ts"
import { duration, file, integer, literals, option, parsed, repeated, text, toggle } from "./Values.ts"

const parseObject = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

export const embeddedFlags = inGroup("EXPERTS", {
  expert: repeated(
    Flag.String("expert"),
    "EXPERT",
    "Expert that votes: first, last, longest, shortest, random, judge:MODEL, or gold:FILE; repeatable",
    { isEssential: true, path: "gold", values: ["first", "last", "longest", "shortest", "random", "judge:", "gold:"] },
  ),
  turnaround: duration("turnaround", "Simulated time that automatic experts take per task", { default: "0s" }),
})

export const expertFlags = inGroup("EXPERTS", {
  ...embeddedFlags,
  judgeBaseUrl: text("judge-base-url", "URL", "OpenAI-compatible endpoint of a judge", {
    environment: "PREFSTREAM_JUDGE_BASE_URL",
    note: "; key: PREFSTREAM_JUDGE_API_KEY",
  }),
  judgeTemplate: file(
    "judge-template",
    "Prompt template file for a judge, with {prompt}, {completions}, and optionally {guidelines}",
  ),
  judgeBody: option(
    parsed("judge-body", parseObject, 'a JSON object, such as {"max_tokens": 1000, "temperature": null}'),
    "JSON",
    "JSON fields to add to requests to a judge (AI model); a field with the value null is not sent",
    { map: "json" },
  ),
  judgeConcurrency: integer("judge-concurrency", "Maximum concurrent requests to a judge", {
    min: 1,
    default: defaults.concurrency,
    environment: "PREFSTREAM_JUDGE_CONCURRENCY",
  }),
  judgeDisagreement: literals(
    "judge-disagreement",
    ["tie", "abstain"],
    "If a judge's choice depends on the completion order: count a tie, or abstain",
    { default: "tie" },
  ),
  judgeCache: text("judge-cache", "FILE", "File of judge answers, to avoid paying twice", {
    default: "judge-answers.db in the database's folder",
    path: "whole",
  }),
  judgeBatch: toggle(
    "judge-batch",
    "Send a judge's requests as batches: answers within 24 hours, usually at half price",
  ),
  judgeBatchDoubts: literals(
    "judge-batch-doubts",
    ["wait", "send-again"],
    "Wait for a judge's batch that may be lost, or send it again (may be paid twice)",
    { default: "wait", isTypedOnly: true },
  ),
  judgePrice: repeated(
    parsed("judge-price", TokenPrice.parse, TokenPrice.form),
    "PRICE",
    "Price MODEL=INPUT/OUTPUT per million tokens, such as m=0.15/0.60; batches cost half; repeatable",
  ),
})

export const judgeOf = (flags: Command.Command.Config.Infer<typeof expertFlags>): JudgeSettings | undefined =>
  flags.expert.some((expert) => expert.startsWith("judge:"))
    ? {
        baseUrl: flags.judgeBaseUrl,
        templateFile: flags.judgeTemplate,
        body: flags.judgeBody,
        concurrency: flags.judgeConcurrency,
        onDisagreement: flags.judgeDisagreement,
        cache: flags.judgeCache,
        batch: flags.judgeBatch === true && { doubts: flags.judgeBatchDoubts },
        prices: Object.fromEntries(flags.judgePrice),
      }
    : undefined

export const expertsOf = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  flags: Command.Command.Config.Infer<typeof expertFlags> & { readonly ignoreField?: ReadonlyArray<string> },
) {
  const { parse } = yield* Effect.promise(() => import("../../service/expert/ScriptedExperts.ts"))
  return yield* Effect.forEach(names, (name) =>
    Effect.map(parse(name, judgeOf(flags), { ignore: flags.ignoreField }), (expert) =>
      expert.kind === "judge" ? name : expert,
    ),
  ).pipe(Effect.mapError(asUsageError))
})
