/**
 * The flags that say where to receive the service's webhooks and how they are signed, and
 * what they become. All but the first two may stand in the environment; a flag goes before.
 *
 * Guarantees: secrets are `Redacted` from the moment they are read, and stand in no message;
 * what does not fit together is refused before anything is sent.
 */
import { Array as Arr, Config, Console, Duration, Effect, Option, Record, Redacted, Schema } from "effect"
import { Flag } from "effect/cli"
import * as WebhookScheme from "../../api/WebhookScheme.ts"
import { defaultTolerance, layerMac } from "../../api/WebhookSignature.ts"
import type { DeliveryIdPlace } from "../../task/webhook/Handler.ts"
import * as WebhookReceiver from "../../task/webhook/WebhookReceiver.ts"
import { UsageError } from "../output/ExitStatus.ts"
import { durationsLook, readDuration } from "./Settings.ts"

/** What stands in an environment variable, too. Read as text, so that both are checked alike. */
const setting = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(`${description} [${variableOf(name)}]`),
    Flag.optional,
  )

const variableOf = (name: string) => `PREFSTREAM_${name.toUpperCase().replaceAll("-", "_")}`

export const webhookFlags = {
  listen: Flag.String("listen").pipe(
    Flag.withMetavar("[HOST:]PORT"),
    Flag.filterMap(
      (text) => {
        const [, address, name, port = ""] = /^(?:\[([0-9a-fA-F:.]+)\]:|([^\s:/@[\]]+):)?(\d{1,5})$/.exec(text) ?? []
        const found = { host: address ?? name, port: Number(port) }
        return port !== "" && found.port <= 65_535 ? Option.some(found) : Option.none()
      },
      () => "a port, or an address and a port, such as 8485, 0.0.0.0:8485 or [::1]:8485",
    ),
    Flag.withDescription(
      "Receive the service's webhooks here while waiting, and look at once at the tasks that they tell of; without a host on 127.0.0.1, at port 0 on a free one",
    ),
    Flag.optional,
  ),
  webhookPath: Flag.String("webhook-path").pipe(
    Flag.withMetavar("PATH"),
    Flag.withDescription(`Path that webhooks are sent to (default: ${WebhookReceiver.defaultPath})`),
    Flag.optional,
  ),
  webhookSecret: Flag.Redacted("webhook-secret").pipe(
    Flag.withMetavar("SECRET"),
    Flag.withDescription(
      "Secret of the webhook; several, while one is replaced, in a line each, or separated by spaces where they begin with whsec_; better given in the environment [PREFSTREAM_WEBHOOK_SECRET]",
    ),
    Flag.optional,
  ),
  webhookScheme: setting(
    "webhook-scheme",
    "SCHEME",
    `How webhooks are signed: ${WebhookScheme.schemes.join(", ")} (default: ${WebhookScheme.schemes[0]})`,
  ),
  webhookHeader: setting(
    "webhook-header",
    "NAME",
    "Header with the signature or the secret, for stripe (default: stripe-signature), github (x-hub-signature-256) and shared-secret (authorization)",
  ),
  webhookTolerance: setting(
    "webhook-tolerance",
    "DURATION",
    `How old a webhook may be, for schemes that sign a time: 1s to 1h (default: ${Duration.format(defaultTolerance)})`,
  ),
  webhookTaskIds: setting(
    "webhook-task-ids",
    "PATH",
    "Where task ids stand in the payload, such as data.tasks[*].id; several, separated by spaces; where none is found, all tasks are looked at",
  ),
  webhookDeliveryId: setting(
    "webhook-delivery-id",
    "WHERE",
    "Where an id stands that is the same each time a delivery is sent, for schemes that sign none: header:NAME, or a path in the payload (default for github: header:x-github-delivery)",
  ),
}

interface WebhookFlags {
  readonly listen: Option.Option<{ readonly host: string | undefined; readonly port: number }>
  readonly webhookPath: Option.Option<string>
  readonly webhookSecret: Option.Option<Redacted.Redacted<string>>
  readonly webhookScheme: Option.Option<string>
  readonly webhookHeader: Option.Option<string>
  readonly webhookTolerance: Option.Option<string>
  readonly webhookTaskIds: Option.Option<string>
  readonly webhookDeliveryId: Option.Option<string>
}

/** What means nothing without `--listen`. */
const onlyListening = {
  webhookPath: "--webhook-path",
  webhookSecret: "--webhook-secret",
  webhookScheme: "--webhook-scheme",
  webhookHeader: "--webhook-header",
  webhookTolerance: "--webhook-tolerance",
  webhookTaskIds: "--webhook-task-ids",
  webhookDeliveryId: "--webhook-delivery-id",
} as const

const wrong = (message: string) => Effect.fail(new UsageError({ message }))

/** Where the flags say to listen, or else what the pipeline says, with its URL told on standard error. */
export const webhookOf = Effect.fnUntraced(function* (
  flags: WebhookFlags,
  otherwise: WebhookReceiver.ListenOptions | undefined,
): Effect.fn.Return<WebhookReceiver.ListenOptions | undefined, UsageError> {
  const onListening = (url: string) => Console.error(`Webhooks are received at ${url}`)
  // Read in any case, so that a setting is known to be one; wrong ones matter to who listens.
  const settings = yield* settingsOf(flags)
  if (Option.isNone(flags.listen)) {
    const said = Record.keys(onlyListening).filter((name) => Option.isSome<unknown>(flags[name]))
    if (said.length === 0) return otherwise && { onListening, ...otherwise }
    return yield* wrong(`${said.map((name) => onlyListening[name]).join(", ")}: only with --listen`)
  }
  const path = Option.getOrElse(flags.webhookPath, () => WebhookReceiver.defaultPath)
  if (!isPath(path)) {
    return yield* wrong("--webhook-path: expected a path such as /webhook, of letters, digits and -._~/")
  }
  if (path === WebhookReceiver.healthPath) return yield* wrong(`--webhook-path: ${path} tells that it listens`)
  const scheme = yield* schemeOf(settings)
  const taskIdPaths = yield* pathsOf(settings.taskIds)
  const deliveryId = yield* placeOf(settings.deliveryId)
  return { ...flags.listen.value, ...scheme, path, taskIdPaths, deliveryId, onListening }
})

const isPath = (text: string): text is `/${string}` => /^\/[\w.~/-]*$/.test(text)

const filled = Option.filter((text: string) => text.trim() !== "")

/** A setting, and where it was found, for whoever must put it right. */
interface Found {
  readonly text: string
  readonly from: string
}

/** The flags, and the environment where there is none. What is set to nothing is not set. */
const settingsOf = Effect.fnUntraced(
  function* (flags: WebhookFlags) {
    const or = Effect.fnUntraced(function* (flag: Option.Option<string>, name: string) {
      const environment = filled(yield* Config.option(Config.String(variableOf(name))))
      const found = Option.map(environment, (text): Found => ({ text: text.trim(), from: variableOf(name) }))
      return Option.getOrUndefined(
        Option.orElse(
          Option.map(filled(flag), (text) => ({ text: text.trim(), from: `--${name}` })),
          () => found,
        ),
      )
    })
    const secret = yield* Config.option(Config.Redacted("PREFSTREAM_WEBHOOK_SECRET"))
    return {
      secret: Option.orElse(flags.webhookSecret, () => secret),
      scheme: yield* or(flags.webhookScheme, "webhook-scheme"),
      header: yield* or(flags.webhookHeader, "webhook-header"),
      tolerance: yield* or(flags.webhookTolerance, "webhook-tolerance"),
      taskIds: yield* or(flags.webhookTaskIds, "webhook-task-ids"),
      deliveryId: yield* or(flags.webhookDeliveryId, "webhook-delivery-id"),
    }
  },
  Effect.mapError(({ message }) => new UsageError({ message })),
)

const isScheme = Schema.is(Schema.Literals(WebhookScheme.schemes))

/** The scheme, with all that it is told; refused where it can't be told so. */
const schemeOf = Effect.fnUntraced(function* (settings: Effect.Success<ReturnType<typeof settingsOf>>) {
  const { header, tolerance } = settings
  const scheme = settings.scheme?.text ?? "standard-webhooks"
  if (!isScheme(scheme)) {
    return yield* wrong(`${settings.scheme?.from}: expected one of ${WebhookScheme.schemes.join(", ")}`)
  }
  const secrets = secretsOf(settings.secret)
  if (!Arr.isReadonlyArrayNonEmpty(secrets)) {
    return yield* wrong("--listen: set the webhook's secret in PREFSTREAM_WEBHOOK_SECRET")
  }
  if (header !== undefined && !WebhookScheme.namesHeader(scheme)) {
    return yield* wrong(`${header.from}: the headers of ${scheme} have names of their own`)
  }
  if (header !== undefined && !isHeader(header.text)) {
    return yield* wrong(`${header.from}: expected the name of a header, such as x-signature`)
  }
  if (tolerance !== undefined && !WebhookScheme.signsTime(scheme)) {
    return yield* wrong(`${tolerance.from}: ${scheme} signs no time`)
  }
  const old = tolerance && Option.getOrUndefined(readDuration(tolerance.text))
  if (tolerance !== undefined && old === undefined) return yield* wrong(`${tolerance.from}: expected ${durationsLook}`)
  const described: WebhookScheme.WebhookScheme =
    scheme === "stripe"
      ? { scheme, secrets, header: header?.text, tolerance: old }
      : WebhookScheme.signsTime(scheme)
        ? { scheme, secrets, tolerance: old }
        : { scheme, secrets, header: header?.text }
  yield* WebhookScheme.make(described).pipe(
    Effect.provide(layerMac),
    Effect.catchTag("MalformedTolerance", () => wrong(`${tolerance?.from}: expected 1s to 1h`)),
    Effect.catchTag("MalformedSecret", ({ problem }) =>
      wrong(`PREFSTREAM_WEBHOOK_SECRET or --webhook-secret, for ${scheme}: ${problem}`),
    ),
  )
  return described
})

/** One in a line. Those that begin with `whsec_` have no spaces in them, others may. */
const secretsOf = (given: Option.Option<Redacted.Redacted<string>>) =>
  Option.match(given, { onNone: () => "", onSome: Redacted.value })
    .split(/[\r\n]+|\s+(?=whsec_)/)
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map((text) => Redacted.make(text))

const isHeader = (text: string) => /^[\w!#$%&'*+.^`|~-]+$/.test(text)

const isPayloadPath = (text: string) => /^[^\s.[\]]+(\[\*\])?(\.[^\s.[\]]+(\[\*\])?)*$/.test(text)

const pathsOf = Effect.fnUntraced(function* (given: Found | undefined) {
  if (given === undefined) return undefined
  const paths = given.text.split(/\s+/)
  if (paths.every(isPayloadPath)) return paths
  return yield* wrong(`${given.from}: expected a path such as data.task_ids or data.tasks[*].id`)
})

const placeOf = Effect.fnUntraced(function* (
  given: Found | undefined,
): Effect.fn.Return<DeliveryIdPlace | undefined, UsageError> {
  if (given === undefined) return undefined
  const [, header] = /^header:(.*)$/s.exec(given.text) ?? []
  if (header !== undefined && isHeader(header)) return { header }
  if (header === undefined && isPayloadPath(given.text)) return { path: given.text }
  return yield* wrong(`${given.from}: expected header:NAME or a path such as id or event.id`)
})
