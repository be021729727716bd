/** Batches of an OpenAI-compatible endpoint. A failed request may have been carried out, unless `isRefused` is set. */
import { ByteSize, Duration, Effect, Option, Schema } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"
import * as JudgeFailure from "./JudgeFailure.ts"
import * as JudgeHttp from "./JudgeHttp.ts"

const requestLimits = { maxBytes: ByteSize.mebibytes(8), timeout: Duration.minutes(2) }
const fileLimits = { maxBytes: ByteSize.gibibytes(1), timeout: Duration.minutes(30) }

const pageSize = 100
const maxPages = 100

const nameMember = "prefstream_batch"

const Text = Schema.optionalKey(Schema.NullOr(Schema.String))

export const Batch = Schema.Struct({
  id: Schema.String,
  status: Schema.String,
  output_file_id: Text,
  error_file_id: Text,
  errors: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        data: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({ code: Text, message: Text })))),
      }),
    ),
  ),
  metadata: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))),
})
export type Batch = typeof Batch.Type

const Page = Schema.Struct({
  data: Schema.Array(Batch),
  has_more: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
})
const File = Schema.Struct({ id: Schema.String })

const BatchLine = Schema.Struct({
  custom_id: Schema.String,
  response: Schema.optionalKey(Schema.NullOr(Schema.Struct({ status_code: Schema.Int, body: Schema.Unknown }))),
  error: Schema.optionalKey(Schema.NullOr(Schema.Struct({ code: Text, message: Text }))),
})
export type BatchLine = typeof BatchLine.Type
const decodeLine = Schema.decodeUnknownOption(Schema.fromJsonString(BatchLine))

export const make = (client: HttpClient.HttpClient, context: JudgeFailure.RequestContext) => {
  const { apiKey, baseUrl } = context
  const exchange = JudgeHttp.make(client, context)

  const json = <A>(schema: Schema.Codec<A>, request: HttpClientRequest.HttpClientRequest, limits = requestLimits) => {
    const decode = Schema.decodeUnknownOption(Schema.fromJsonString(schema))
    return Effect.flatMap(exchange(HttpClientRequest.acceptJson(request), limits), (text) =>
      Option.match(decode(text), {
        onSome: Effect.succeed,
        onNone: () =>
          Effect.fail(
            new JudgeFailure.JudgeFailed({
              fault: "Moment",
              problem: `${baseUrl} returned an unexpected answer: ${JudgeFailure.quote(text, apiKey)}`,
            }),
          ),
      }),
    )
  }

  const page = (after: string | undefined) =>
    json(
      Page,
      HttpClientRequest.get(`${baseUrl}/batches`).pipe(
        HttpClientRequest.setUrlParams({ limit: String(pageSize), ...(after !== undefined && { after }) }),
      ),
    )

  return {
    /** `name` is also the boundary between the parts of the body, so `lines` must not contain `name`. */
    upload: (name: string, lines: string) => {
      const part = (header: string, text: string) =>
        `--${name}\r\nContent-Disposition: form-data; ${header}\r\n\r\n${text}\r\n`
      // The body is made here, because undici does not send a `FormData` that contains a file.
      const body = `${part('name="purpose"', "batch")}${part(
        `name="file"; filename="${name}.jsonl"\r\nContent-Type: application/jsonl`,
        lines,
      )}--${name}--\r\n`
      const request = HttpClientRequest.post(`${baseUrl}/files`).pipe(
        HttpClientRequest.bodyText(body, `multipart/form-data; boundary=${name}`),
      )
      return Effect.map(json(File, request, fileLimits), ({ id }) => id)
    },

    create: (name: string, inputFile: string) =>
      json(
        Batch,
        HttpClientRequest.post(`${baseUrl}/batches`).pipe(
          HttpClientRequest.bodyJsonUnsafe({
            input_file_id: inputFile,
            endpoint: "/v1/chat/completions",
            completion_window: "24h",
            metadata: { [nameMember]: name },
          }),
        ),
      ),

    /** Finds a batch by the name in its metadata. Even if the result is none, the batch may exist. */
    find: Effect.fnUntraced(function* (name: string) {
      let after: string | undefined
      for (let pages = 0; pages < maxPages; pages++) {
        const { data, has_more } = yield* page(after)
        const batch = data.find(({ metadata }) => metadata?.[nameMember] === name)
        const last = data.at(-1)?.id
        if (batch !== undefined) return Option.some(batch)
        if (has_more !== true || last === undefined || last === after) break
        after = last
      }
      return Option.none()
    }),

    poll: (id: string) => json(Batch, HttpClientRequest.get(`${baseUrl}/batches/${encodeURIComponent(id)}`)),

    lines: (file: string) =>
      Effect.map(
        exchange(HttpClientRequest.get(`${baseUrl}/files/${encodeURIComponent(file)}/content`), fileLimits),
        (text) => {
          const lines: Array<BatchLine> = []
          const unreadable: Array<number> = []
          for (const [i, line] of text.split("\n").entries()) {
            if (line.trim() === "") continue
            const decoded = decodeLine(line)
            if (Option.isSome(decoded)) lines.push(decoded.value)
            else unreadable.push(i + 1)
          }
          return { lines, unreadable }
        },
      ),
  }
}
export type BatchClient = ReturnType<typeof make>
