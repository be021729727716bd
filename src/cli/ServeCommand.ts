/**
 * `prefstream serve`: the annotation service by itself, for pipelines in other processes.
 */
import { Config, Console, Effect, Layer, Option, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { HttpServer } from "effect/http"
import * as AnnotationService from "../service/AnnotationService.ts"
import * as OrganizationTokens from "../service/OrganizationTokens.ts"
import * as Settings from "./Settings.ts"

export const serveCommand = Command.make(
  "serve",
  {
    database: Flag.String("database").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("SQLite file that holds the tasks; created if need be (default: prefstream-service.db)"),
      Flag.withDefault("prefstream-service.db"),
    ),
    host: Flag.String("host").pipe(
      Flag.withMetavar("ADDRESS"),
      Flag.withDescription("Address to listen on (default: 127.0.0.1)"),
      Flag.withDefault("127.0.0.1"),
    ),
    port: Flag.Int("port").pipe(
      Flag.withMetavar("PORT"),
      Flag.withDescription("Port to listen on; 0 takes a free one (default: 8484)"),
      Flag.withDefault(8484),
    ),
    token: Flag.Redacted("token").pipe(
      Flag.withMetavar("TOKEN"),
      Flag.withDescription(
        "Organization token that clients must carry; drawn and printed if not given [PREFSTREAM_TOKEN]",
      ),
      Flag.withFallbackConfig(Config.Redacted("PREFSTREAM_TOKEN")),
      Flag.optional,
    ),
    ...Settings.embedded,
  },
  Effect.fn("prefstream serve")(function* (flags) {
    const token = Option.isSome(flags.token)
      ? yield* Settings.usableToken(flags.token.value)
      : yield* OrganizationTokens.draw
    const announce = Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer
      const baseUrl = `${HttpServer.formatAddress(address)}/v1`
      yield* Console.error(
        `The annotation service listens at ${baseUrl} (documentation: ${baseUrl}/docs). Stop it with Ctrl+C.`,
      )
      yield* Console.log(`PREFSTREAM_BASE_URL=${baseUrl}`)
      if (flags.experts.length === 0) yield* Console.error("No --expert: tasks are taken, and wait for one.")
      if (Option.isNone(flags.token)) yield* Console.log(`PREFSTREAM_TOKEN=${Redacted.value(token)}`)
    })
    return yield* Layer.launch(
      Layer.provideMerge(
        Layer.effectDiscard(announce),
        AnnotationService.layerServer({
          database: flags.database,
          experts: flags.experts,
          turnaround: Option.getOrUndefined(flags.turnaround),
          host: flags.host,
          port: flags.port,
          token,
        }),
      ),
    )
  }),
).pipe(
  Command.withDescription("Serve the annotation service's HTTP interface, with scripted experts who answer its tasks."),
  Command.withShortDescription("Serve the annotation service"),
  Command.withExamples([
    {
      command: "prefstream serve --expert gold:data/sample.jsonl --turnaround 30s",
      description: "Experts who take their time",
    },
  ]),
)
