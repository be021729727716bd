/**
 * `prefstream serve`: the annotation service by itself, for pipelines in other processes.
 */
import { Config, Console, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { mostVotes } from "../../api/AnnotationApi.ts"
import * as AnnotationService from "../../service/AnnotationService.ts"
import { defaultRateLimit } from "../../service/http/RateLimit.ts"
import { Accounts } from "../../service/account/Accounts.ts"
import { OwnAddress } from "../../service/http/OwnAddress.ts"
import { Tokens } from "../../service/account/Tokens.ts"
import { UsageError } from "../output/ExitStatus.ts"
import { judgeOf } from "../flags/JudgeFlags.ts"
import * as Settings from "../flags/Settings.ts"
import * as Stop from "../output/Stop.ts"

/** What whoever starts the service has to know: all that is said, then the settings of its clients as data. */
const announce = Effect.fnUntraced(function* (flags: {
  readonly apiOnly: boolean
  readonly experts: ReadonlyArray<string>
  readonly hasToken: boolean
  readonly signInLink: boolean
}) {
  const { encrypted, origin } = yield* OwnAddress
  const tokens = yield* Tokens
  const accounts = yield* Accounts
  const baseUrl = `${origin}/v1`
  const isFirst = !flags.hasToken && (yield* tokens.list).length === 0
  const token = isFirst ? yield* tokens.create("first") : undefined

  yield* Console.error(
    `The annotation service listens at ${baseUrl} (documentation: ${baseUrl}/docs). Stop it with Ctrl+C.`,
  )
  if (!encrypted) {
    yield* Console.error(
      "Warning: the service can be reached from other machines, and without TLS: tokens, passwords and texts can be " +
        "read on the way. Put a proxy with TLS in front, and name its address: --public-url https://…",
    )
  }
  if (!flags.apiOnly) {
    const isAnew = flags.signInLink || !(yield* accounts.anyOperator)
    yield* Console.error(
      isAnew
        ? `Sign in to the dashboard by this link, once and within 24 hours: ${origin}${yield* accounts.signInLink}`
        : `The dashboard is at ${origin}/dashboard/ (password lost: restart with --sign-in-link).`,
    )
  } else if (flags.experts.length === 0) {
    yield* Console.error("No --expert: tasks are taken, and wait for one.")
  }
  if (token !== undefined) {
    yield* Console.error("The first organization token follows; it is shown this once. More are made in the dashboard.")
  }
  yield* Console.log(`PREFSTREAM_BASE_URL=${baseUrl}`)
  if (token !== undefined) yield* Console.log(`PREFSTREAM_TOKEN=${Redacted.value(token.token)}`)
})

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
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))),
      Flag.withDescription("Port to listen on; 0 takes a free one (default: 8484)"),
      Flag.withDefault(8484),
    ),
    token: Flag.Redacted("token").pipe(
      Flag.withMetavar("TOKEN"),
      Flag.withDescription(
        "Organization token that clients may carry beside those of the dashboard; without it, and as long as there are none, one is made and printed [PREFSTREAM_TOKEN]",
      ),
      Flag.withFallbackConfig(Config.Redacted("PREFSTREAM_TOKEN")),
      Flag.optional,
    ),
    publicUrl: Flag.String("public-url").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription("Where people reach the service behind a proxy, such as https://annotate.example"),
      Flag.optional,
    ),
    signInLink: Flag.Boolean("sign-in-link").pipe(
      Flag.withDescription(
        "Print a one-time link to the dashboard: for a password that was lost, for another operator, or to shut one out by a new password. The first start prints one by itself",
      ),
      Flag.withDefault(false),
    ),
    apiOnly: Flag.Boolean("api-only").pipe(
      Flag.withDescription("Serve the HTTP interface only: no dashboard, and no annotation page"),
      Flag.withDefault(false),
    ),
    votes: Flag.Int("votes").pipe(
      Flag.withMetavar("N"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostVotes }))),
      Flag.withDescription("Experts who judge each prompt, where a task does not say (default: 1)"),
      Flag.withDefault(1),
    ),
    undoGrace: Settings.duration("undo-grace").pipe(
      Flag.withDescription("Time to take back a task's last votes before it is completed (default: 30s)"),
      Flag.optional,
    ),
    gold: Flag.File("gold", { mustExist: true }).pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Prompt items with gold answers, as JSON lines: experts are measured by them"),
      Flag.optional,
    ),
    rateLimit: Flag.Int("rate-limit").pipe(
      Flag.withMetavar("N"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))),
      Flag.withDescription(
        `Requests per second for each token, twice as many at once; 0 for no limit (default: ${defaultRateLimit.perSecond})`,
      ),
      Flag.withDefault(defaultRateLimit.perSecond),
    ),
    allowPrivateWebhooks: Flag.Boolean("allow-private-webhooks").pipe(
      Flag.withDescription("Let webhooks go to private networks and to this machine; their answers are not logged"),
      Flag.withDefault(false),
    ),
    ...Settings.embedded,
  },
  Effect.fn("prefstream serve")(function* (flags) {
    const judge = yield* judgeOf(flags)
    if (flags.apiOnly && flags.signInLink) {
      return yield* new UsageError({ message: "--sign-in-link: not with --api-only, which has no dashboard" })
    }
    const token = Option.isSome(flags.token) ? yield* Settings.usableToken(flags.token.value) : undefined
    const service = AnnotationService.layerServer({
      database: flags.database,
      experts: flags.experts,
      judge,
      turnaround: Option.getOrUndefined(flags.turnaround),
      host: flags.host,
      port: flags.port,
      token,
      publicUrl: Option.getOrUndefined(flags.publicUrl),
      pages: !flags.apiOnly,
      votes: flags.votes,
      undoGrace: Option.getOrUndefined(flags.undoGrace),
      gold: Option.getOrUndefined(flags.gold),
      rateLimit: flags.rateLimit === 0 ? "none" : { perSecond: flags.rateLimit, burst: 2 * flags.rateLimit },
      allowPrivateWebhooks: flags.allowPrivateWebhooks,
    })
    const announced = Layer.effectDiscard(announce({ ...flags, hasToken: token !== undefined }))
    return yield* Layer.launch(Layer.provideMerge(announced, service)).pipe(
      Effect.catchTag("InvalidPublicUrl", ({ message }) => new UsageError({ message: `--public-url: ${message}` })),
      Stop.isNormalEnd,
    )
  }),
).pipe(
  Command.withDescription(
    "Serve the annotation service: its HTTP interface, a dashboard, and a page where experts judge; also with automatic experts.",
  ),
  Command.withShortDescription("Serve the annotation service"),
  Command.withExamples([
    { command: "prefstream serve --votes 3 --gold gold.jsonl", description: "For a team that judges by itself" },
    {
      command: "prefstream serve --public-url https://annotate.example",
      description: "Behind a proxy with TLS",
    },
    {
      command: "prefstream serve --expert gold:data/sample.jsonl --turnaround 30s",
      description: "Experts who take their time",
    },
  ]),
)
