/**
 * The flags that say how a language model is asked to judge, and what they become.
 *
 * The endpoint's key has no flag: it comes from the environment alone, where other users
 * of the machine don't see it. See `JudgeSettings`.
 */
import { Config, Effect, Option, Record, Schema } from "effect"
import { Flag } from "effect/cli"
import { defaults } from "../../service/expert/JudgeEndpoint.ts"
import type { JudgeSettings } from "../../service/expert/JudgeSettings.ts"
import { UsageError } from "../output/ExitStatus.ts"

const Positive = Schema.Int.check(Schema.isGreaterThan(0))

const parseObject = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

export const judgeFlags = {
  judgeBaseUrl: Flag.String("judge-base-url").pipe(
    Flag.withMetavar("URL"),
    Flag.withDescription(
      "OpenAI-compatible endpoint for --expert judge:MODEL, with its version: http://127.0.0.1:11434/v1 [PREFSTREAM_JUDGE_BASE_URL; its key: PREFSTREAM_JUDGE_API_KEY]",
    ),
    Flag.optional,
  ),
  judgeTemplate: Flag.File("judge-template", { mustExist: true }).pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription(
      "File with the question to a judge, with {prompt}, {completions} and, if wanted, {guidelines}",
    ),
    Flag.optional,
  ),
  judgeBody: Flag.String("judge-body").pipe(
    Flag.withMetavar("JSON"),
    Flag.filterMap(parseObject, () => 'a JSON object, such as {"max_tokens": 1000, "temperature": null}'),
    Flag.withDescription(
      'Further members of each request to a judge, such as {"max_tokens": 1000}; null leaves out one that is sent otherwise (temperature)',
    ),
    Flag.optional,
  ),
  judgeConcurrency: Flag.Int("judge-concurrency").pipe(
    Flag.withMetavar("N"),
    Flag.withSchema(Positive),
    Flag.withDescription(
      `Requests to a judge under way at once (default: ${defaults.concurrency}) [PREFSTREAM_JUDGE_CONCURRENCY]`,
    ),
    Flag.withFallbackConfig(Config.schema(Positive, "PREFSTREAM_JUDGE_CONCURRENCY")),
    Flag.optional,
  ),
  judgeDisagreement: Flag.Literals("judge-disagreement", ["tie", "abstain"]).pipe(
    Flag.withDescription(
      "What becomes of completions that a judge prefers in one order only: equally good, or no vote (default: tie)",
    ),
    Flag.optional,
  ),
}

interface JudgeFlags {
  readonly experts: ReadonlyArray<string>
  readonly judgeBaseUrl: Option.Option<string>
  readonly judgeTemplate: Option.Option<string>
  readonly judgeBody: Option.Option<{ readonly [member: string]: Schema.Json }>
  readonly judgeConcurrency: Option.Option<number>
  readonly judgeDisagreement: Option.Option<"tie" | "abstain">
}

/** What means nothing without a judge. `--judge-concurrency` may be set in the environment for all. */
const onlyForJudges = {
  judgeBaseUrl: "--judge-base-url",
  judgeTemplate: "--judge-template",
  judgeBody: "--judge-body",
  judgeDisagreement: "--judge-disagreement",
} as const

export const judgeOf = Effect.fnUntraced(function* (
  flags: JudgeFlags,
): Effect.fn.Return<JudgeSettings | undefined, UsageError> {
  if (!flags.experts.some((expert) => expert.startsWith("judge:"))) {
    const said = Record.keys(onlyForJudges).filter((name) => Option.isSome<unknown>(flags[name]))
    if (said.length === 0) return undefined
    return yield* new UsageError({
      message: `${said.map((name) => onlyForJudges[name]).join(", ")}: only with --expert judge:MODEL`,
    })
  }
  return {
    baseUrl: Option.getOrUndefined(flags.judgeBaseUrl),
    templateFile: Option.getOrUndefined(flags.judgeTemplate),
    body: Option.getOrUndefined(flags.judgeBody),
    concurrency: Option.getOrUndefined(flags.judgeConcurrency),
    onDisagreement: Option.getOrUndefined(flags.judgeDisagreement),
  }
})
