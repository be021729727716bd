/**
 * Reads a service's `openapi.json`: the limits of an item, and whether the service declares `Idempotency-Key`, `group`,
 * `votes`, and `voters`. References (`$ref`) are not followed. A request takes at most 5 seconds, and is repeated at
 * most twice after a 429 or 503. Without a usable document, items have no limits, and `idempotencyKey` is `ignored`.
 */
import { Context, Duration, Effect, Layer, Option, Predicate, Schedule, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as Authorization from "../../api/Authorization.ts"
import { defaults, type ItemLimits, ServiceProfile, type ServiceSettings, unlimited } from "../../api/ServiceProfile.ts"
import * as RateLimit from "../../api/RateLimit.ts"
import * as TaskMembers from "../../api/TaskMembers.ts"
import * as Backoff from "../../io/Backoff.ts"
import * as SteadyClock from "../../io/SteadyClock.ts"
import * as ResponseBody from "./ResponseBody.ts"

/** When `openapi.json` was last requested, in ms of `SteadyClock`. This request counts toward `requestsPerSecond`. */
export const FirstRequest = Context.Reference<number | undefined>("prefstream/task/FirstRequest", {
  defaultValue: () => undefined,
})

/** The service's `openapi.json` could not be read, so it is unknown whether a task can ask for several votes. */
export class MembersUnknown extends Schema.TaggedError<MembersUnknown>()("MembersUnknown", {
  /** The service, as in `ServiceSettings.identity`. */
  service: Schema.String,
  /** The HTTP status of the last response, or why there was no usable response. */
  found: Schema.String,
}) {
  override get message() {
    return `${this.service}: openapi.json could not be read (${this.found}), so it is unknown whether one task can ask for several votes. Until this is known, no task is sent: the service could give and bill more votes than requested. Run the same command again. If the service has no openapi.json, add the member "votes": 1 to each request (\`requestExtra\`): each task then asks for one vote`
  }
}

/** If `openapi.json` could not be read, an effect that tries again. Otherwise undefined. */
export const Unread = Context.Reference<Effect.Effect<TaskMembers.TaskMembers, MembersUnknown> | undefined>(
  "prefstream/task/UnreadDocument",
  { defaultValue: () => undefined },
)

export interface Published extends ItemLimits {
  readonly idempotencyKey: "honored" | "ignored"
  readonly taskMembers: TaskMembers.TaskMembers
}

const nothing: Published = { ...unlimited, idempotencyKey: "ignored", taskMembers: TaskMembers.none }

const timeLimit = "5 seconds"

const maxRequests = 3
const usualWait = Duration.seconds(1)
const maxWait = Duration.minutes(1)

const maxBytes = 4 * 1024 * 1024

const decodePaths = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ paths: Schema.Record(Schema.String, Schema.Unknown) })),
)

const decodeMaximum = Schema.decodeUnknownOption(Schema.Int.check(Schema.isGreaterThan(0)))

const decodeLimit = Schema.decodeUnknownOption(Schema.Int.check(Schema.isGreaterThan(1)))

const isOfType = (schema: unknown, type: "integer" | "string"): boolean =>
  [schema, ...["allOf", "anyOf", "oneOf"].map((name) => at(schema, name))]
    .flat()
    .some((part) => [at(part, "type")].flat().includes(type))

const maximumOf = (schema: unknown): number => {
  const parts = [schema, at(schema, "allOf")].flat()
  return Math.min(...parts.map((part) => Option.getOrElse(decodeMaximum(at(part, "maximum")), () => Infinity)))
}

const at = (value: unknown, path: string): unknown =>
  path
    .split(" ")
    .reduce<unknown>((value, name) => (Predicate.hasProperty(value, name) ? value[name] : undefined), value)

const isKey = (parameter: unknown): boolean => {
  const name = at(parameter, "name")
  return at(parameter, "in") === "header" && typeof name === "string" && name.toLowerCase() === "idempotency-key"
}

const publishedIn = (document: string): Published =>
  Option.match(decodePaths(document), {
    onNone: () => nothing,
    onSome: ({ paths }) => {
      const path = paths[Object.keys(paths).find((path) => /(^|\/)tasks$/.test(path)) ?? ""]
      const members = at(path, "post requestBody content application/json schema properties")
      const prompt = at(members, "prompts items properties")
      const limit = (place: string) => Option.getOrElse(decodeLimit(at(prompt, place)), () => Infinity)
      return {
        maxCompletions: limit("completions maxItems"),
        maxPromptCharacters: limit("prompt maxLength"),
        maxCompletionCharacters: limit("completions items maxLength"),
        idempotencyKey: [at(path, "parameters"), at(path, "post parameters")].flat().some(isKey)
          ? "honored"
          : "ignored",
        taskMembers: {
          group: isOfType(at(members, "group"), "string"),
          maxVotes: isOfType(at(members, "votes"), "integer") ? maximumOf(at(members, "votes")) : 0,
          voters: isOfType(at(members, "voters"), "string"),
        },
      }
    },
  })

export const read = Effect.fn("PublishedLimits.read")(function* ({
  authorization = "Bearer",
  baseUrl,
  requestsPerSecond = Infinity,
  token,
}: Pick<ServiceSettings, "baseUrl"> & {
  readonly requestsPerSecond?: number | undefined
  readonly authorization?: string | undefined
  readonly token: ServiceSettings["token"] | undefined
}) {
  const request = HttpClientRequest.get(`${baseUrl.replace(/\/+$/, "")}/openapi.json`).pipe(
    HttpClientRequest.setHeaders({ accept: "application/json", "accept-encoding": "identity" }),
    (request) => (token === undefined ? request : Authorization.of({ authorization })(request, token)),
  )
  const once = HttpClient.execute(request).pipe(
    Effect.flatMap((response) =>
      Effect.all({
        answer: ResponseBody.read(response, maxBytes),
        wait: RateLimit.retryAfter(response.headers["retry-after"], Duration.days(1)),
      }),
    ),
    Effect.timeout(timeLimit),
    Effect.option,
  )
  let requests = 1
  let last = yield* once
  while (Option.isSome(last) && isBusy(last.value.answer) && requests++ < maxRequests) {
    const requestedMillis = last.value.wait ?? Duration.toMillis(usualWait)
    const wait = Duration.millis(Math.max(requestedMillis, 1000 / requestsPerSecond))
    if (Duration.isGreaterThan(wait, maxWait)) break
    yield* Effect.sleep(wait)
    last = yield* once
  }
  const { problem, status, text } = Option.match(last, {
    onNone: () => ({ status: undefined, problem: "no answer", text: "" }),
    onSome: ({ answer: { problem, status, text } }) => ({ status, problem, text }),
  })
  /** Why `openapi.json` could not be read. Undefined if the service has no such document (a status such as 404). */
  const unread =
    status === undefined || status === 200 ? problem : status === 429 || status >= 500 ? String(status) : undefined
  return { ...(status === 200 && problem === undefined ? publishedIn(text) : nothing), unread }
})

const isBusy = ({ status }: ResponseBody.Answer): boolean => status === 429 || status === 503

const effectiveLimit = (limit: number, published: number): number => (limit === Infinity ? published : limit)

export const membersOf = (
  { createRequest, requestExtra }: Pick<ServiceSettings, "createRequest" | "requestExtra">,
  published: TaskMembers.TaskMembers,
): TaskMembers.TaskMembers => {
  if (createRequest !== defaults.createRequest) return TaskMembers.none
  return {
    group: published.group && !Object.hasOwn(requestExtra, "group"),
    maxVotes: Object.hasOwn(requestExtra, "votes") ? 0 : published.maxVotes,
    voters: published.voters === true && !Object.hasOwn(requestExtra, "voters"),
  }
}

export const membersFor = Effect.fnUntraced(function* (
  { votes, votesUpTo = votes }: { readonly votes?: number | undefined; readonly votesUpTo?: number | undefined },
  hasContract: boolean,
) {
  const { taskMembers } = yield* ServiceProfile
  if (!hasContract) return TaskMembers.none
  if (taskMembers !== "declared") return taskMembers
  const unread = yield* Unread
  return votesUpTo !== undefined && unread !== undefined ? yield* unread : TaskMembers.none
})

const readAgain = (profile: ServiceSettings) =>
  read(profile).pipe(
    Effect.flatMap(({ taskMembers, unread }) =>
      unread === undefined
        ? Effect.succeed(membersOf(profile, taskMembers))
        : Effect.fail(new MembersUnknown({ service: profile.identity, found: unread })),
    ),
    Effect.retry(Backoff.exponential("200 millis", "30 seconds").pipe(Schedule.upTo({ duration: profile.patience }))),
  )

const complete = Effect.fnUntraced(function* (profile: ServiceSettings) {
  const isSet = profile.idempotencyKey !== "declared" && profile.taskMembers !== "declared"
  if (isSet && profile.maxCompletions !== Infinity) {
    return Context.make(ServiceProfile, profile)
  }
  const published = yield* read(profile)
  const { unread } = published
  const { idempotencyKey, identity } = profile
  const isUnread = profile.taskMembers === "declared" && unread !== undefined
  const possible = membersOf(profile, { group: true, maxVotes: 1 })
  if (unread !== undefined && idempotencyKey === "declared") {
    yield* Effect.logWarning(
      `${identity}: openapi.json could not be read (${unread}), so it is unknown whether the service honors Idempotency-Key. If the service does not answer the request for a new task, prefstream does not repeat the request. The task stays in doubt until you decide with prefstream resolve. If you know that the service honors Idempotency-Key, set \`idempotencyKey: "honored"\`. prefstream then repeats the request with the same key`,
    )
  }
  if (isUnread && (possible.group || possible.maxVotes > 0)) {
    yield* Effect.logWarning(
      `${identity}: openapi.json could not be read (${unread}), so it is unknown whether a request may have the members "group", "votes", and "voters". New tasks are sent without "group". If \`votes\` is set, no task is sent until openapi.json can be read`,
    )
  }
  if (profile.idempotencyKey === "declared" && published.idempotencyKey === "honored") {
    yield* Effect.logDebug(
      `The service's openapi.json declares Idempotency-Key. If a request may have created a task but got no usable response, prefstream sends the request again with the same key. To mark the task as in doubt instead, set \`idempotencyKey: "ignored"\``,
    )
  }
  const completed: ServiceSettings = {
    ...profile,
    maxCompletions: effectiveLimit(profile.maxCompletions, published.maxCompletions),
    maxPromptCharacters: effectiveLimit(profile.maxPromptCharacters, published.maxPromptCharacters),
    maxCompletionCharacters: effectiveLimit(profile.maxCompletionCharacters, published.maxCompletionCharacters),
    idempotencyKey: profile.idempotencyKey === "declared" ? published.idempotencyKey : profile.idempotencyKey,
    taskMembers:
      profile.taskMembers !== "declared" || (isUnread && possible.maxVotes > 0)
        ? profile.taskMembers
        : membersOf(profile, published.taskMembers),
  }
  const http = yield* HttpClient.HttpClient
  return Context.make(ServiceProfile, completed).pipe(
    Context.add(FirstRequest, yield* SteadyClock.now),
    Context.add(Unread, isUnread ? Effect.provideService(readAgain(profile), HttpClient.HttpClient, http) : undefined),
  )
})

const withoutDocument = (profile: ServiceSettings) =>
  Context.make(ServiceProfile, {
    ...profile,
    idempotencyKey: profile.idempotencyKey === "declared" ? nothing.idempotencyKey : profile.idempotencyKey,
    taskMembers: profile.taskMembers === "declared" ? nothing.taskMembers : profile.taskMembers,
  })

/** @param hasOwnClient whether the program's own client sends all requests. `openapi.json` is then not read */
export const layer = <E, R>(
  service: Layer.Layer<ServiceProfile, E, R>,
  hasOwnClient: boolean,
): Layer.Layer<ServiceProfile, E, R | HttpClient.HttpClient> =>
  Layer.effectContext(
    Effect.flatMap(ServiceProfile, (profile) =>
      hasOwnClient ? Effect.succeed(withoutDocument(profile)) : complete(profile),
    ),
  ).pipe(Layer.provide(service))
