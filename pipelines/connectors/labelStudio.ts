/**
 * Label Studio: each prompt of a prefstream task becomes one Label Studio task, in a project with a `Pairwise` tag (two
 * completions) or a `Ranker` tag (more).
 *
 * Guarantees: Label Studio does not support idempotency keys, but each of its tasks carries the key in its data. The
 * connector searches for the key before an import, and again if the import fails. If it finds all tasks, it does not
 * import them again, even if a person resends a task in doubt (`prefstream resolve`). Otherwise, the import may still
 * be running, so the task is in doubt. For this reason, `idempotencyKey` must stay `ignored`.
 *
 * Labeling configurations for two completions, and for more:
 *
 *     <View><Markdown name="prompt" value="$prompt"/><Text name="a" value="$a"/><Text name="b" value="$b"/>
 *       <Pairwise name="choice" toName="a,b"/></View>
 *     <View><Markdown name="prompt" value="$prompt"/><List name="completions" value="$completions"/>
 *       <Ranker name="choice" toName="completions"/></View>
 *
 * Sources: label-studio-sdk 2.1.3 (`reference.md`, `tokens/client_ext.py`, `types/`); label-studio `tasks/api.py`,
 * `tasks/serializers.py`, `data_import/`, `data_manager/`, `webhooks/`, `docs/source/guide/access_tokens.md`. Not
 * confirmed with a real server: how filters match texts, the limits of Label Studio's cloud, and whether `is_labeled`
 * counts skipped annotations.
 */
import { Clock, Effect, Option, Redacted, Schedule, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { Tasks } from "prefstream"

const { Array, Finite, Int, NullOr, Record, String: Text, Struct, Union, Unknown, optionalKey } = Schema

const Imported = Struct({ import: optionalKey(Int) })
const Import = Struct({ status: Text, error: optionalKey(NullOr(Text)) })
const Access = Struct({ access: Text })

/** In some answers, `completed_by` is a user instead of an id. */
const Annotation = Struct({
  completed_by: optionalKey(Union([Int, Struct({ id: Int }), Schema.Null])),
  was_cancelled: optionalKey(Schema.Boolean),
  lead_time: optionalKey(NullOr(Finite)),
  result: Array(Struct({ from_name: Text, value: Record(Text, Unknown) })),
})
const Task = Struct({
  is_labeled: Schema.Boolean,
  data: Struct({ prefstream_position: Int }),
  annotations: optionalKey(Array(Annotation)),
})
const Page = Struct({ tasks: Array(Task), total: Int })

const isDelivery = Schema.is(Struct({ task: Struct({ data: Struct({ prefstream_task: Text }) }) }))
const isPair = Schema.is(Struct({ selected: Text }))
const isRanker = Schema.is(Struct({ ranker: Union([Array(Text), Struct({ choice: Array(Text) })]) }))
const isText = Schema.is(Struct({ text: Array(Text) }))

/** Converts an annotation to a vote. An unknown side or label becomes an invalid index, which the library reports. */
const voteOf = ({ completed_by, lead_time, result }: typeof Annotation.Type) => {
  const valueOf = (name: string) => result.find(({ from_name }) => from_name === name)?.value
  const [value, reason] = [valueOf("choice"), valueOf("rationale")]
  const expert = completed_by != null && {
    expert: `user ${typeof completed_by === "object" ? completed_by.id : completed_by}`,
  }
  const about = {
    ...expert,
    ...(lead_time != null && { seconds: lead_time }),
    ...(isText(reason) && { rationale: reason.text.join("\n") }),
  }
  if (isPair(value)) return [{ ...about, choice: ["left", "right"].indexOf(value.selected) }]
  if (!isRanker(value)) return []
  const ranking = ("choice" in value.ranker ? value.ranker.choice : value.ranker).map(Number)
  return [{ ...about, choice: ranking[0] ?? -1, ranking: ranking.map((index) => [index]) }]
}

export const protocol = ({ project }: { readonly project: number }): Tasks.Protocol => {
  let access = { text: "", until: 0 }

  /** Finds the Label Studio tasks with a key, in the order of the prompts. */
  const tasksOf = (key: string, http: Tasks.Http) => {
    const item = { filter: "filter:tasks:data.prefstream_task", operator: "equal", type: "String", value: key }
    const query = JSON.stringify({ filters: { conjunction: "and", items: [item] } })
    const pages = Stream.paginate(1, (page: number) =>
      http.get("/api/tasks/", { urlParams: { project, fields: "all", page, page_size: 100, query } }).pipe(
        Effect.flatMap(HttpClientResponse.schemaBodyJson(Page)),
        Effect.map(({ tasks, total }) => [tasks, page * 100 < total ? Option.some(page + 1) : Option.none()] as const),
      ),
    )
    const position = ({ data }: typeof Task.Type) => data.prefstream_position
    return Effect.map(Stream.runCollect(pages), (tasks) => tasks.toSorted((a, b) => position(a) - position(b)))
  }

  return {
    // A personal access token is exchanged for a token for five minutes. A legacy token is sent unchanged.
    authorize: Effect.fnUntraced(function* (request, token) {
      const secret = Redacted.value(token)
      if (!/^eyJ[^.]*\.[^.]+\.[^.]+$/.test(secret))
        return HttpClientRequest.setHeader(request, "authorization", `Token ${secret}`)
      const now = yield* Clock.currentTimeMillis
      if (now >= access.until) {
        const url = request.url.replace(/\/api\/.*/, "/api/token/refresh/")
        const refresh = HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(url), { refresh: secret })
        const answer = yield* Effect.provide(HttpClient.execute(refresh), FetchHttpClient.layer)
        if (answer.status === 401) {
          const reason = new Tasks.AccessDenied({ status: 401, detail: "the personal access token is not valid" })
          return yield* new Tasks.AnnotationClientError({ baseUrl: url, reason })
        }
        access = { text: (yield* HttpClientResponse.schemaBodyJson(Access)(answer)).access, until: now + 240_000 }
      }
      return HttpClientRequest.bearerToken(request, access.text)
    }),

    create: Effect.fnUntraced(function* ({ prompts }, { http, idempotencyKey: key, repeatable }) {
      const isThere = Effect.map(tasksOf(key, repeatable), ({ length }) => length >= prompts.length)
      if (yield* isThere) return key
      const body = prompts.map(({ completions, prompt }, position) => ({
        data: {
          prompt,
          ...(completions.length === 2
            ? { a: completions[0], b: completions[1] }
            : { completions: completions.map((text, i) => ({ id: `${i}`, title: "", body: text })) }),
          prefstream_task: key,
          prefstream_position: position,
        },
      }))
      const url = `/api/projects/${project}/import`
      const importing = HttpClientRequest.bodyJsonUnsafe(
        HttpClientRequest.post(url, { urlParams: { return_task_ids: true } }),
        body,
      )
      const { import: id } = yield* Effect.flatMap(
        http.execute(importing),
        HttpClientResponse.schemaBodyJson(Imported),
      ).pipe(
        Effect.catch((failure) =>
          Effect.flatMap(
            Effect.orElseSucceed(isThere, () => false),
            (there) => (there ? Effect.succeed({ import: undefined }) : Effect.fail(failure)),
          ),
        ),
      )
      if (id === undefined) return key
      // Label Studio's cloud answers with the id of an import that runs in the background.
      const state = Effect.flatMap(
        http.get(`/api/projects/${project}/imports/${id}/`),
        HttpClientResponse.schemaBodyJson(Import),
      )
      const { error, status } = yield* Effect.repeat(state, {
        while: ({ status }) => status === "created" || status === "in_progress",
        schedule: Schedule.spaced("1 second"),
        times: 300,
      })
      if (status === "completed") return key
      const reason = new Tasks.Refused({ status: 400, detail: `import ${id} is ${status}: ${error ?? "no reason"}` })
      return yield* new Tasks.AnnotationClientError({ baseUrl: url, reason })
    }),

    poll: Effect.fnUntraced(function* (taskId, call) {
      const [{ prompts }, tasks] = [yield* call.task, yield* tasksOf(taskId, call.http)]
      if (tasks.length < prompts.length) return { _tag: "Failed", status: "deleted" }
      if (!tasks.every(({ is_labeled }) => is_labeled)) return { _tag: "Open", status: "in_progress" }
      const results = tasks.flatMap(({ annotations = [], data }) => {
        const votes = annotations.filter(({ was_cancelled }) => was_cancelled !== true).flatMap(voteOf)
        return votes.length === 0 ? [] : [{ prompt: data.prefstream_position, votes }]
      })
      return { _tag: "Completed", results }
    }),

    taskIdsOf: (payload) => (isDelivery(payload) ? [payload.task.data.prefstream_task] : undefined),
  }
}
