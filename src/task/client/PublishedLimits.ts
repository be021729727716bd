/**
 * The limits that a service publishes in the OpenAPI document at `openapi.json` below its base URL.
 *
 * Guarantees: the document is requested once, for at most 5 seconds; without a usable one, there are no limits.
 */
import { Effect, Layer, Option, Predicate, Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { ServiceProfile, type ServiceSettings } from "../../api/ServiceProfile.ts"
import * as ResponseBody from "./ResponseBody.ts"

const timeLimit = "5 seconds"

const maxBytes = 4 * 1024 * 1024

const decodePaths = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ paths: Schema.Record(Schema.String, Schema.Unknown) })),
)

const decodeLimit = Schema.decodeUnknownOption(Schema.Int.check(Schema.isGreaterThan(1)))

/** Of the path that creates tasks. */
const maxCompletionsAt =
  "post requestBody content application/json schema properties prompts items properties completions maxItems".split(" ")

const limitIn = (document: string): Option.Option<number> =>
  Option.flatMap(decodePaths(document), ({ paths }) => {
    const path = Object.keys(paths).find((path) => /(^|\/)tasks$/.test(path))
    if (path === undefined) return Option.none()
    return decodeLimit(
      maxCompletionsAt.reduce<unknown>(
        (value, name) => (Predicate.hasProperty(value, name) ? value[name] : undefined),
        paths[path],
      ),
    )
  })

/** Maximum completions per prompt; `Infinity` if the service states none. */
export const maxCompletions = Effect.fn("PublishedLimits.maxCompletions")(function* ({
  baseUrl,
  token,
}: Pick<ServiceSettings, "baseUrl"> & { readonly token: ServiceSettings["token"] | undefined }) {
  const request = HttpClientRequest.get(`${baseUrl.replace(/\/+$/, "")}/openapi.json`).pipe(
    HttpClientRequest.setHeaders({ accept: "application/json", "accept-encoding": "identity" }),
    token === undefined ? (request) => request : HttpClientRequest.bearerToken(Redacted.value(token)),
  )
  const answer = yield* HttpClient.execute(request).pipe(
    Effect.flatMap((response) => ResponseBody.read(response, maxBytes)),
    Effect.timeout(timeLimit),
    Effect.option,
  )
  return answer.pipe(
    Option.filter(({ problem, status }) => status === 200 && problem === undefined),
    Option.flatMap(({ text }) => limitIn(text)),
    Option.getOrElse(() => Infinity),
  )
})

/** The profile with the published limit, unless it has one. */
export const layer = <E, R>(
  service: Layer.Layer<ServiceProfile, E, R>,
): Layer.Layer<ServiceProfile, E, R | HttpClient.HttpClient> =>
  Layer.effect(
    ServiceProfile,
    Effect.flatMap(ServiceProfile, (profile) =>
      profile.maxCompletions === Infinity
        ? Effect.map(maxCompletions(profile), (maxCompletions) => ({
            ...profile,
            maxCompletions,
          }))
        : Effect.succeed(profile),
    ),
  ).pipe(Layer.provide(service))
