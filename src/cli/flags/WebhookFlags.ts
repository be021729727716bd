/**
 * The flags that say where to receive webhooks and how they are signed. All but `--listen` and `--webhook-path` may be
 * environment variables; a flag overrides its variable, and an empty variable counts as not set.
 *
 * Guarantees: secrets are `Redacted` from the moment they are read, and are in no message; settings that do not fit
 * together are refused before anything is sent.
 */
import { Array as Arr, Config, Console, Effect, Option, Redacted, Schema } from "effect"
import type { Command } from "effect/cli"
import { defaults } from "../../api/ServiceProfile.ts"
import * as WebhookScheme from "../../api/WebhookScheme.ts"
import { defaultTolerance, layerMac } from "../../api/WebhookSignature.ts"
import { joinWords } from "../../io/Values.ts"
import type { DeliveryIdPlace } from "../../task/webhook/Handler.ts"
import * as WebhookReceiver from "../../task/webhook/WebhookReceiver.ts"
import { UsageError } from "../output/ExitStatus.ts"
import { address, durationForm, formatDuration, parseDuration, text } from "./Values.ts"

const [standard, ...others] = WebhookScheme.schemes

export const webhookFlags = {
  listen: address(
    "listen",
    "[HOST:]PORT",
    "Receive webhooks here; port 0: any (default host: 127.0.0.1) [secrets: PREFSTREAM_WEBHOOK_SECRET]",
  ),
  webhookPath: text("webhook-path", "PATH", `Path of the webhook URL (default: ${WebhookReceiver.defaultPath})`),
  webhookScheme: text(
    "webhook-scheme",
    "SCHEME",
    `${joinWords([`${standard} (default)`, ...others], "or")} [PREFSTREAM_WEBHOOK_SCHEME]`,
  ),
  webhookHeader: text(
    "webhook-header",
    "NAME",
    "Header with the signature or secret (default: by scheme) [PREFSTREAM_WEBHOOK_HEADER]",
  ),
  webhookTolerance: text(
    "webhook-tolerance",
    "DURATION",
    `Maximum age of a delivery, 1s to 1h (default: ${formatDuration(defaultTolerance)}) [PREFSTREAM_WEBHOOK_TOLERANCE]`,
  ),
  webhookTaskIds: text(
    "webhook-task-ids",
    "PATHS",
    `Paths of task ids in the payload (default: ${defaults.webhook.taskIdPaths[0]} and similar) [PREFSTREAM_WEBHOOK_TASK_IDS]`,
  ),
  webhookDeliveryId: text(
    "webhook-delivery-id",
    "WHERE",
    "Unsigned delivery id: header:NAME, or a payload path [PREFSTREAM_WEBHOOK_DELIVERY_ID]",
  ),
}

type WebhookFlags = Command.Command.Config.Infer<typeof webhookFlags>

const refuse = (message: string) => Effect.fail(new UsageError({ message }))

/** Where to listen, by the flags or else the pipeline; prints the URL to stderr. */
export const webhookOf = Effect.fnUntraced(function* (
  flags: WebhookFlags,
  otherwise: WebhookReceiver.ListenOptions | undefined,
): Effect.fn.Return<WebhookReceiver.ListenOptions | undefined, UsageError> {
  const onListening = (url: string) => Console.error(`Webhooks are received at ${url}`)
  if (flags.listen === undefined) return otherwise && { onListening, ...otherwise }
  const path = flags.webhookPath ?? WebhookReceiver.defaultPath
  if (!isPath(path)) {
    return yield* refuse("--webhook-path: expected a path such as /webhook, of letters, digits and -._~/")
  }
  if (WebhookReceiver.isHealthPath(path)) return yield* refuse(`--webhook-path: ${path} is the health check`)
  const settings = yield* settingsOf(flags)
  const scheme = yield* schemeOf(settings)
  const taskIdPaths = yield* pathsOf(settings.taskIds)
  const deliveryId = yield* deliveryIdOf(settings.deliveryId)
  return { ...flags.listen, ...scheme, path, taskIdPaths, deliveryId, onListening }
})

const isPath = (text: string): text is `/${string}` => /^\/[\w.~/-]*$/.test(text)

/** A setting and its flag or variable, which messages name. */
interface Setting {
  readonly text: string
  readonly from: string
}

const settingsOf = Effect.fnUntraced(
  function* (flags: WebhookFlags) {
    const settingOf = Effect.fnUntraced(function* (flag: string | undefined, name: string) {
      const variable = `PREFSTREAM_${name.toUpperCase().replaceAll("-", "_")}`
      const environment = yield* Config.option(Config.String(variable))
      const settings: ReadonlyArray<Setting> = [
        { text: (flag ?? "").trim(), from: `--${name}` },
        { text: Option.getOrElse(environment, () => "").trim(), from: variable },
      ]
      return settings.find(({ text }) => text !== "")
    })
    const secret = yield* Config.option(Config.Redacted("PREFSTREAM_WEBHOOK_SECRET"))
    return {
      secret: Option.getOrUndefined(secret),
      scheme: yield* settingOf(flags.webhookScheme, "webhook-scheme"),
      header: yield* settingOf(flags.webhookHeader, "webhook-header"),
      tolerance: yield* settingOf(flags.webhookTolerance, "webhook-tolerance"),
      taskIds: yield* settingOf(flags.webhookTaskIds, "webhook-task-ids"),
      deliveryId: yield* settingOf(flags.webhookDeliveryId, "webhook-delivery-id"),
    }
  },
  Effect.mapError(({ message }) => new UsageError({ message })),
)

const isScheme = Schema.is(Schema.Literals(WebhookScheme.schemes))

/** The scheme with its settings; refused if it has no such setting. */
const schemeOf = Effect.fnUntraced(function* (settings: Effect.Success<ReturnType<typeof settingsOf>>) {
  const { header, tolerance } = settings
  const scheme = settings.scheme?.text ?? standard
  if (!isScheme(scheme)) {
    return yield* refuse(`${settings.scheme?.from}: expected one of ${WebhookScheme.schemes.join(", ")}`)
  }
  const secrets = secretsOf(settings.secret)
  if (!Arr.isReadonlyArrayNonEmpty(secrets)) {
    return yield* refuse("--listen: set the webhook's secret in PREFSTREAM_WEBHOOK_SECRET")
  }
  if (header !== undefined && !WebhookScheme.namesHeader(scheme)) {
    return yield* refuse(`${header.from}: the headers of ${scheme} cannot be renamed`)
  }
  if (header !== undefined && !isHeader(header.text)) {
    return yield* refuse(`${header.from}: expected the name of a header, such as x-signature`)
  }
  if (tolerance !== undefined && !WebhookScheme.signsTime(scheme)) {
    return yield* refuse(`${tolerance.from}: ${scheme} does not sign a time`)
  }
  const maxAge = tolerance && Option.getOrUndefined(parseDuration(tolerance.text))
  if (tolerance !== undefined && maxAge === undefined) {
    return yield* refuse(`${tolerance.from}: expected ${durationForm}`)
  }
  const described: WebhookScheme.WebhookScheme =
    scheme === "stripe"
      ? { scheme, secrets, header: header?.text, tolerance: maxAge }
      : WebhookScheme.signsTime(scheme)
        ? { scheme, secrets, tolerance: maxAge }
        : { scheme, secrets, header: header?.text }
  yield* WebhookScheme.make(described).pipe(
    Effect.provide(layerMac),
    Effect.catchTag("UnknownScheme", ({ message }) => refuse(message)),
    Effect.catchTag("MalformedTolerance", () => refuse(`${tolerance?.from}: expected 1s to 1h`)),
    Effect.catchTag("MalformedSecret", ({ problem }) => refuse(`PREFSTREAM_WEBHOOK_SECRET, for ${scheme}: ${problem}`)),
  )
  return described
})

/** One per line. Secrets that begin with `whsec_` contain no spaces, others may. */
const secretsOf = (given: Redacted.Redacted<string> | undefined) =>
  (given === undefined ? "" : Redacted.value(given))
    .split(/[\r\n]+|\s+(?=whsec_)/)
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map((text) => Redacted.make(text))

const isHeader = (text: string) => /^[\w!#$%&'*+.^`|~-]+$/.test(text)

const isPayloadPath = (text: string) => /^[^\s.[\]]+(\[\*\])?(\.[^\s.[\]]+(\[\*\])?)*$/.test(text)

const pathsOf = (setting: Setting | undefined) => {
  const paths = setting?.text.split(/\s+/)
  return setting === undefined || paths?.every(isPayloadPath)
    ? Effect.succeed(paths)
    : refuse(`${setting.from}: expected a path such as data.task_ids or data.tasks[*].id`)
}

const deliveryIdOf = (setting: Setting | undefined): Effect.Effect<DeliveryIdPlace | undefined, UsageError> => {
  if (setting === undefined) return Effect.undefined
  const [, header] = /^header:(.*)$/s.exec(setting.text) ?? []
  if (header !== undefined && isHeader(header)) return Effect.succeed({ header })
  if (header === undefined && isPayloadPath(setting.text)) return Effect.succeed({ path: setting.text })
  return refuse(`${setting.from}: expected header:NAME or a path such as id or event.id`)
}
