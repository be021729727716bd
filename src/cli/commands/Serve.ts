/** `prefstream serve` runs the standalone annotation service, for pipelines in other processes. */
import { Console, Effect, Layer, Option, Redacted, Struct } from "effect"
import { maxVotes } from "../../api/MaxVotes.ts"
import * as ServiceLayers from "../../service/ServiceLayers.ts"
import { defaultRateLimit } from "../../service/http/RateLimit.ts"
import { Accounts } from "../../service/account/Accounts.ts"
import * as Audit from "../../service/database/Audit.ts"
import { ServiceAddress } from "../../service/http/ServiceAddress.ts"
import { Tokens } from "../../service/account/Tokens.ts"
import { Webhooks } from "../../service/webhook/Webhooks.ts"
import { defined } from "../../io/Values.ts"
import { usageError } from "../output/ExitStatus.ts"
import { makeCommand } from "../flags/Definition.ts"
import { expertFlags, expertsOf, judgeOf } from "../flags/ExpertFlags.ts"
import { monitor, monitored } from "../flags/MonitorFlag.ts"
import { check } from "../flags/FlagCombinations.ts"
import { token as organizationToken, usableToken } from "../flags/ServiceFlags.ts"
import { parseImageHost } from "../../service/http/SecurityHeaders.ts"
import { duration, file, integer, parsed, repeated, text, toggle } from "../flags/Values.ts"
import * as Settings from "../settings/Settings.ts"
import * as Stop from "../../pipeline/Stop.ts"

const defaults = { database: "prefstream-service.db", host: "127.0.0.1", port: 8484, votes: 1 }

const announce = Effect.fnUntraced(function* (flags: {
  readonly apiOnly: boolean | undefined
  readonly expert: ReadonlyArray<string>
  readonly hasToken: boolean
  readonly signInLink: boolean | undefined
  readonly webhookUrl: string | undefined
}) {
  const { encrypted, origin } = yield* ServiceAddress
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
      "Warning: other machines can reach the service without TLS, so tokens, passwords, and texts can be read in " +
        "transit. Put a TLS proxy in front of the service, and set its address with --public-url https://…",
    )
  }
  if (flags.expert.length > 0) {
    const experts = `Automatic experts judge in place of people: --expert ${flags.expert.join(", ")}`
    yield* Console.error(Settings.withSources(experts, yield* Settings.Current))
  }
  if (!flags.apiOnly) {
    const isAnew = flags.signInLink || !(yield* accounts.anyOperator)
    yield* Console.error(
      isAnew
        ? `Sign in to the dashboard with this link (valid for one use, within 24 hours): ${origin}${yield* accounts.signInLink}`
        : `The dashboard is at ${origin}/dashboard/ (lost password: restart with --sign-in-link).`,
    )
  } else if (flags.expert.length === 0) {
    yield* Console.error(
      "No --expert, and no annotation page (--api-only): tasks are accepted, but nobody answers them.",
    )
  }
  if (token !== undefined) {
    yield* Console.error(
      `The first organization token follows. It is shown only once.${flags.apiOnly ? "" : " You can create more tokens in the dashboard."}`,
    )
  }
  yield* Console.log(`PREFSTREAM_BASE_URL=${baseUrl}`)
  if (token !== undefined) yield* Console.log(`PREFSTREAM_TOKEN=${Redacted.value(token.token)}`)
  if (flags.webhookUrl !== undefined) {
    const { secret } = yield* (yield* Webhooks)
      .set(flags.webhookUrl)
      .pipe(Effect.catchTag("Conflict", ({ detail }) => usageError(`--webhook-url: ${detail}`)))
    if (Option.isSome(secret)) {
      yield* Console.error(`The webhook secret follows.${flags.apiOnly ? "" : " You can replace it in the dashboard."}`)
      yield* Console.log(`PREFSTREAM_WEBHOOK_SECRET=${secret.value}`)
    }
  }
})

export const command = makeCommand(
  "serve",
  "Run the annotation service: HTTP interface, dashboard, and annotation page. --expert adds automatic experts, which judge instead of people. PREFSTREAM_TOKEN, if set, is accepted as an additional organization token.",
  {
    database: text("database", "FILE", "SQLite file of the service, created if missing", {
      default: defaults.database,
      path: "whole",
    }),
    host: text("host", "ADDRESS", "Address to listen on", { default: defaults.host }),
    port: integer("port", "Port to listen on; 0 picks a free one", {
      metavar: "PORT",
      min: 0,
      max: 65_535,
      default: defaults.port,
    }),
    publicUrl: text(
      "public-url",
      "URL",
      "Public address of a service behind a proxy, such as https://annotate.example",
    ),
    signInLink: toggle(
      "sign-in-link",
      "Print a one-time sign-in link to the dashboard, for a lost password or a new operator",
      { isTypedOnly: true },
    ),
    apiOnly: toggle("api-only", "Serve only the HTTP interface, without the dashboard and the annotation page"),
    votes: integer("votes", "Votes per prompt, unless a task sets its own number", {
      min: 1,
      max: maxVotes,
      default: defaults.votes,
    }),
    allowRepeatedVotes: toggle(
      "allow-repeated-votes",
      "Let people judge the same content again in another item if nobody else is left to judge this item",
    ),
    undoGrace: duration(
      "undo-grace",
      "Time that a task stays open after its last vote, so that the vote can be undone",
      {
        default: "30s",
      },
    ),
    gold: file("gold", "File of gold items (with known answers) to measure experts, in any input format"),
    rateLimit: integer("rate-limit", "Requests per second for each token, with bursts of twice as many; 0: no limit", {
      min: 0,
      max: 100_000,
      default: defaultRateLimit.perSecond,
    }),
    webhookUrl: text("webhook-url", "URL", "Address to send webhooks to; can also be set in the dashboard"),
    allowPrivateWebhooks: toggle("allow-private-webhooks", "Allow webhooks to private networks and this machine"),
    imageHost: repeated(
      parsed("image-host", parseImageHost, "a host such as images.example.org"),
      "HOST",
      "Allow the pages to show images from HOST, over https; repeatable",
    ),
    monitor,
    ...expertFlags,
  },
  // `Effect.fn` would make a span for the whole command, and would record all requests inside this span.
  Effect.fnUntraced(function* (flags) {
    yield* check(flags)
    const variable = yield* organizationToken
    const token = variable === undefined ? undefined : yield* usableToken(variable)
    const requestsPerSecond = flags.rateLimit ?? defaultRateLimit.perSecond
    const service = ServiceLayers.layerServer({
      ...defaults,
      ...defined(Struct.pick(flags, ["database", "host", "port", "votes"])),
      ...Struct.pick(flags, [
        "turnaround",
        "publicUrl",
        "undoGrace",
        "gold",
        "allowPrivateWebhooks",
        "allowRepeatedVotes",
      ]),
      imageHosts: flags.imageHost,
      experts: yield* expertsOf(flags.expert, flags),
      judge: judgeOf(flags),
      token,
      pages: !flags.apiOnly,
      rateLimit: requestsPerSecond === 0 ? "none" : { perSecond: requestsPerSecond, burst: 2 * requestsPerSecond },
    })
    const announced = Layer.effectDiscard(
      Effect.provideService(announce({ ...flags, hasToken: token !== undefined }), Audit.Actor, Audit.commandLine),
    )
    return yield* Layer.launch(Layer.provideMerge(announced, service)).pipe(
      Effect.catchTag("InvalidPublicUrl", ({ message }) => usageError(`--public-url: ${message}`)),
      monitored(flags.monitor),
      Stop.withOptions({ isNormalEnd: true }),
    )
  }),
  {
    "prefstream serve --votes 3 --gold gold.jsonl": "For a team with its own experts",
    "prefstream serve --public-url https://annotate.example": "Behind a TLS proxy",
    "prefstream serve --expert gold:data/sample.jsonl --turnaround 30s": "Simulate slow experts",
  },
)
