/** `GET /votes`: an organization's votes as a table. The response is chunked, so clients notice if it breaks off. */
import { Cause, Effect, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AnnotationApi, Organization, OrganizationToken } from "../../api/AnnotationApi.ts"
import * as Problems from "../../api/Problems.ts"
import { type Format, formats } from "../../domain/VoteRow.ts"
import { tableTypes, VoteTable } from "../pageApi/ItemsApi.ts"
import { Desk } from "../store/Desk.ts"
import type { VoteFilter } from "../store/VoteExport.ts"

export const respond = ({ exportVotes }: Desk["Service"], format: Format, filter: VoteFilter, raw = false) =>
  // When the store fails, the status has already been sent, so the response can only break off.
  HttpServerResponse.stream(
    Stream.tapCause(exportVotes(format, filter, raw), (cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.void
        : Effect.logError("The vote export failed before all votes were sent", cause),
    ),
    {
      contentType: tableTypes[format],
      headers: { "content-disposition": `attachment; filename="votes.${format}"` },
    },
  )

const exportVotes = HttpApiEndpoint.get("export", "/votes", {
  query: {
    format: Schema.optionalKey(Schema.Literals(formats)),
    /** Keeps texts in CSV as they are. By default, a text that looks like a formula gets a leading apostrophe. */
    raw: Schema.optionalKey(Schema.Literal("true")),
    group: Schema.optionalKey(Schema.String),
    task: Schema.optionalKey(Schema.String),
    expert: Schema.optionalKey(Schema.String),
  },
  success: VoteTable,
  error: [
    Problems.MalformedRequest,
    Problems.Forbidden,
    Problems.TooManyRequests,
    Problems.ServiceFailure,
    Problems.ServiceTooSlow,
    Problems.ServiceUnavailable,
  ],
})

class VotesGroup extends HttpApiGroup.make("votes")
  .add(exportVotes)
  .middleware(OrganizationToken)
  .annotateMerge(OpenApi.annotations({ title: "Votes", description: "Read all votes as a table." })) {}

export const ServiceApi = AnnotationApi.add(VotesGroup).prefix("/v1")

export const handlers = HttpApiBuilder.group(
  ServiceApi,
  "votes",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* Desk
    return handlers.handle(
      "export",
      Effect.fnUntraced(function* ({ query: { format = "jsonl", raw, ...filter } }) {
        const { name: organization } = yield* Organization
        return respond(desk, format, { ...filter, organization }, raw !== undefined)
      }),
    )
  }),
)
