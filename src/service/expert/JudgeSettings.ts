/**
 * Finds the endpoint and the key for `judge:MODEL` in settings or environment variables. There is no default endpoint.
 * `OPENAI_API_KEY` is used only for OpenAI's own endpoint.
 */
import { Config, Effect, FileSystem, Option, Redacted, Schema } from "effect"
import { amountForm } from "../../domain/Cost.ts"
import * as TokenPrice from "../../domain/TokenPrice.ts"
import { baseUrlForm, isBaseUrl } from "../../api/ServiceProfile.ts"
import type { BatchOptions } from "./JudgeBatches.ts"
import type { JudgeOptions } from "./JudgeExpert.ts"
import { required } from "./JudgePrompt.ts"

/** Settings of experts named `judge:MODEL`. */
export interface JudgeSettings extends Omit<JudgeOptions, "model" | "baseUrl" | "price"> {
  /** The base URL of the endpoint. Default: the environment variable `PREFSTREAM_JUDGE_BASE_URL`. */
  readonly baseUrl?: string | undefined
  /** The path of a file that contains the template. */
  readonly templateFile?: string | undefined
  /**
   * The path of the SQLite file of answers. The service creates the file if it does not exist. A request with the same
   * model, messages, and members as an earlier one is not sent again. Only one process at a time can use the file.
   * Default: `judge-answers.db` in the folder of the service's database.
   */
  readonly cache?: string | undefined
  /**
   * Whether and how requests are sent as batches (`/files` and `/batches` of the endpoint). Answers then take up to 24
   * hours, and usually cost half. Batches require a file of answers, which stores their state. Default false.
   */
  readonly batch?: boolean | BatchOptions | undefined
  /** Prices per million tokens, by model. */
  readonly prices?: { readonly [model: string]: TokenPrice.TokenPrice } | undefined
}

/** The settings of an expert named `judge:MODEL` are missing or invalid. */
export class JudgeSettingsError extends Schema.TaggedError<JudgeSettingsError>()("JudgeSettingsError", {
  /** The name of the expert, such as `judge:gpt-4o`. */
  expert: Schema.String,
  /** The problem and, for a missing setting, how to set it. The text contains no key. */
  problem: Schema.String,
}) {
  override get message() {
    return `${this.expert}: ${this.problem}`
  }
}

const openAi = "https://api.openai.com/"

export const resolve = Effect.fn("JudgeSettings.resolve")(function* (
  model: string,
  settings: JudgeSettings = {},
): Effect.fn.Return<JudgeOptions, JudgeSettingsError, FileSystem.FileSystem> {
  const error = (problem: string) => new JudgeSettingsError({ expert: `judge:${model}`, problem })

  const [url, ownKey, openAiKey] = yield* Config.all([
    Config.option(Config.String("PREFSTREAM_JUDGE_BASE_URL")),
    Config.option(Config.Redacted("PREFSTREAM_JUDGE_API_KEY")),
    Config.option(Config.Redacted("OPENAI_API_KEY")),
  ]).pipe(Effect.mapError(({ message }) => error(message)))

  const baseUrl = (settings.baseUrl ?? Option.getOrElse(url, () => "")).trim()
  if (baseUrl === "") {
    return yield* error(
      "no endpoint is set; give its base URL with --judge-base-url or PREFSTREAM_JUDGE_BASE_URL, such as http://127.0.0.1:11434/v1",
    )
  }
  if (!isBaseUrl(baseUrl)) return yield* error(`invalid base URL: expected ${baseUrlForm}`)

  const fromEnvironment = Option.orElse(ownKey, () => (`${baseUrl}/`.startsWith(openAi) ? openAiKey : Option.none()))
  const key = settings.apiKey ?? Option.getOrUndefined(fromEnvironment)
  const secret = key === undefined ? "" : Redacted.value(key).trim()
  if (secret !== "" && !/^[\x21-\x7e]+$/.test(secret)) {
    return yield* error("the API key contains spaces, control characters, or non-ASCII characters")
  }

  const template = settings.templateFile === undefined ? settings.template : yield* read(settings.templateFile, error)
  const missing = template === undefined ? [] : required.filter((placeholder) => !template.includes(placeholder))
  if (missing.length > 0) {
    const where = settings.templateFile === undefined ? "the template" : `the template ${settings.templateFile}`
    return yield* error(`${where} lacks ${missing.join(" and ")}`)
  }

  const price = settings.prices?.[model]
  if (price !== undefined && Option.isNone(TokenPrice.reader(price))) {
    return yield* error(`invalid price per million tokens: expected ${amountForm}`)
  }

  return {
    ...settings,
    model,
    price,
    baseUrl: baseUrl.replace(/\/+$/, ""),
    template,
    apiKey: secret === "" ? undefined : Redacted.make(secret, { label: "judge's key" }),
  }
})

const read = Effect.fnUntraced(function* (file: string, error: (problem: string) => JudgeSettingsError) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(fs.readFileString(file), ({ reason, message }) =>
    error(`the template ${file}: ${reason._tag === "NotFound" ? "there is no such file" : message}`),
  )
})
