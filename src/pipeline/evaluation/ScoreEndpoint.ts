/**
 * Asks a reward model's HTTP endpoint for the scores of completions. The end of the URL's path determines the form:
 * - `/pooling` (vLLM): `{ model, messages }`; the score is the last number in `data[0].data`.
 * - `/score` (vLLM): `{ model, text_1, text_2 }` with prompt and completion; the score is `data[0].score`.
 * - `/predict` (Text Embeddings Inference): `{ inputs: [[prompt, completion]], raw_scores }`; the first `score` counts.
 * No error contains the key. Without TLS, the key is sent only to this machine. Redirects are not followed.
 */
import { Duration, Effect, Option, Redacted, Schedule, Schema, Semaphore, Struct } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as Conversation from "../../domain/Conversation.ts"
import type { Message } from "../../domain/Message.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import * as PairTexts from "../../dataset/format/PairTexts.ts"
import * as Backoff from "../../io/Backoff.ts"
import * as PrivateUrl from "../../io/PrivateUrl.ts"
import * as Kinds from "../../io/SettingKinds.ts"
import { shorten } from "../../io/Values.ts"
import type { PairScores } from "../../pair/evaluation/Evaluation.ts"
import { ScoresInvalid } from "./ScoreFile.ts"

/** An endpoint of a reward model. */
export interface ScoreEndpoint {
  /** The whole URL; its path ends with `/pooling`, `/score`, or `/predict`. */
  readonly url: string
  /** The name of the model at the endpoint. Text Embeddings Inference needs none. */
  readonly model?: string | undefined
  /** The key, sent as a bearer token. Default: none. */
  readonly apiKey?: Redacted.Redacted<string> | undefined
  /** Maximum number of concurrent requests. Default 8. */
  readonly concurrency?: number | undefined
}

const kinds = { ...Kinds.all(Kinds.text, "url model"), apiKey: Kinds.redacted, concurrency: Kinds.number }

export const isEndpoint = (value: unknown): boolean => Kinds.wrongIn(value, kinds, ["url"]) === undefined

const timeout = Duration.minutes(2)

type Forms = {
  readonly [form in "pooling" | "score" | "predict"]: {
    readonly body: (messages: ReadonlyArray<Message>, prompt: string, completion: string) => object
    readonly scoreOf: (answer: string) => Option.Option<number>
  }
}

const Numbers = Schema.Union([
  Schema.Array(Schema.Finite),
  Schema.Array(Schema.Union([Schema.Finite, Schema.Array(Schema.Finite)])),
])
const decode = <A>(schema: Schema.Codec<A, unknown>) => Schema.decodeUnknownOption(Schema.fromJsonString(schema))
const decodePooling = decode(Schema.Struct({ data: Schema.NonEmptyArray(Schema.Struct({ data: Numbers })) }))
const decodeScore = decode(Schema.Struct({ data: Schema.NonEmptyArray(Schema.Struct({ score: Schema.Finite })) }))
const Prediction = Schema.NonEmptyArray(Schema.Struct({ score: Schema.Finite }))
const decodePrediction = decode(Schema.NonEmptyArray(Schema.Union([Prediction, Prediction.value])))

const forms: Forms = {
  pooling: {
    body: (messages) => ({ messages }),
    scoreOf: (answer) =>
      Option.flatMap(decodePooling(answer), ({ data: [{ data }] }) => Option.fromUndefinedOr(data.flat().at(-1))),
  },
  score: {
    body: (_, text_1, text_2) => ({ text_1, text_2 }),
    scoreOf: (answer) => Option.map(decodeScore(answer), ({ data: [{ score }] }) => score),
  },
  predict: {
    body: (_, prompt, completion) => ({ inputs: [[prompt, completion]], raw_scores: true }),
    scoreOf: (answer) => Option.map(decodePrediction(answer), ([first]) => ("score" in first ? first : first[0]).score),
  },
}

export const urlForm = "a URL whose path ends with /pooling, /score, or /predict"

export const formOf = (url: string): keyof Forms | undefined => {
  const path = URL.parse(url)?.pathname.replace(/\/+$/, "")
  return path === undefined ? undefined : Struct.keys(forms).find((form) => path.endsWith(`/${form}`))
}

/** The URL without user name, password, and query, which may be secrets. */
export const placeOf = (url: string): string => {
  const parsed = URL.parse(url)
  return parsed === null ? url : parsed.origin + parsed.pathname
}

export const make = Effect.fnUntraced(function* ({ apiKey, concurrency = 8, model, url }: ScoreEndpoint) {
  const name = formOf(url)
  const place = placeOf(url)
  const failed = (problem: string) => new ScoresInvalid({ place, problem })
  if (name === undefined) return yield* failed(`expected ${urlForm}`)
  if (apiKey !== undefined && !PrivateUrl.isPrivate(new URL(url)))
    return yield* failed("expected https, because a key is sent")
  const form = forms[name]
  const secrets = [url, ...(apiKey === undefined ? [] : [Redacted.value(apiKey)])]
  const quoted = (text: string) =>
    shorten(
      secrets.reduce((text, secret) => text.replaceAll(secret, "…"), text),
      300,
    )
  const semaphore = yield* Semaphore.make(concurrency)
  const client = (yield* HttpClient.HttpClient).pipe(
    HttpClient.retryTransient({
      times: 5,
      schedule: Backoff.exponential("1 second", "30 seconds").pipe(Schedule.jittered),
    }),
  )

  const ask = Effect.fnUntraced(function* (pair: PreferencePair, side: "chosen" | "rejected") {
    const messages = [...PairTexts.toMessages(pair.prompt), ...PairTexts.sideOf(pair, side)]
    const body = form.body(messages, Conversation.toText(pair.prompt), pair[side])
    const request = HttpClientRequest.post(url).pipe(
      HttpClientRequest.acceptJson,
      HttpClientRequest.bodyText(
        JSON.stringify({ ...(model !== undefined && { model }), ...body }),
        "application/json",
      ),
      (request) => (apiKey === undefined ? request : HttpClientRequest.bearerToken(request, apiKey)),
    )
    const { answer, status } = yield* client.execute(request).pipe(
      Effect.flatMap((response) => Effect.map(response.text, (answer) => ({ answer, status: response.status }))),
      Effect.timeout(timeout),
      Semaphore.withPermit(semaphore),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.mapError((error) =>
        failed(error._tag === "TimeoutError" ? `no answer within ${Duration.format(timeout)}` : quoted(error.message)),
      ),
    )
    if (status !== 200) return yield* failed(`expected status 200, found ${status}: ${quoted(answer)}`)
    return yield* Effect.mapError(Effect.fromOption(form.scoreOf(answer)), () =>
      failed(`expected a score, found ${quoted(answer)}`),
    )
  })

  return Effect.fnUntraced(function* (pairs: ReadonlyArray<PreferencePair>) {
    const indices = new Map<number, readonly [PreferencePair, "chosen" | "rejected"]>()
    for (const pair of pairs) {
      indices.set(pair.chosen_index, [pair, "chosen"])
      indices.set(pair.rejected_index, [pair, "rejected"])
    }
    const scores = new Map(
      yield* Effect.forEach(indices, ([index, of]) => Effect.map(ask(...of), (score) => [index, score] as const), {
        concurrency: "unbounded",
      }),
    )
    return pairs.map(({ chosen_index, rejected_index }): PairScores => {
      return { chosen: scores.get(chosen_index)!, rejected: scores.get(rejected_index)! }
    })
  })
})
