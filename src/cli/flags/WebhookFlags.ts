/**
 * Defines the flags for receiving webhooks. Secrets are `Redacted` as soon as they are read, and no message contains
 * them. Settings that cannot be combined are refused before a run sends anything.
 */
import { Array as Arr, Config, Console, Effect, Option, Redacted, Schema } from "effect"
import type { Command } from "effect/cli"
import { defaults } from "../../api/ServiceProfile.ts"
import * as WebhookScheme from "../../api/WebhookScheme.ts"
import { defaultTolerance, layerMac } from "../../api/WebhookSignature.ts"
import { joinWords } from "../../io/Values.ts"
import type { DeliveryIdPlace } from "../../task/webhook/Handler.ts"
import * as WebhookReceiver from "../../task/webhook/WebhookReceiver.ts"
import type { UsageError } from "../output/ExitStatus.ts"
import { usageError, asUsageError } from "../output/ExitStatus.ts"
import { inGroup, refuse } from "./Definition.ts"
import { address, duration, formatDuration, text } from "./Values.ts"

const [standard, ...others] = WebhookScheme.schemes

export const webhookFlags = inGroup("WEBHOOK", {
  listen: address(
    "listen",
    "[HOST:]PORT",
    "Webhook address; port 0: a free port (default host: 127.0.0.1) [secrets: PREFSTREAM_WEBHOOK_SECRET]",
    { isEssential: true, replaces: ["once"] },
  ),
  webhookPath: text("webhook-path", "PATH", "Path of the webhook URL", { default: WebhookReceiver.defaultPath }),
  webhookScheme: text("webhook-scheme", "SCHEME", joinWords([`${standard} (default)`, ...others], "or"), {
    environment: "PREFSTREAM_WEBHOOK_SCHEME",
    values: WebhookScheme.schemes,
  }),
  webhookHeader: text("webhook-header", "NAME", "Header with the signature or secret", {
    default: "depends on the scheme",
    environment: "PREFSTREAM_WEBHOOK_HEADER",
  }),
  webhookTolerance: duration("webhook-tolerance", "Maximum age of a delivery, 1s to 1h", {
    default: formatDuration(defaultTolerance),
    environment: "PREFSTREAM_WEBHOOK_TOLERANCE",
  }),
  webhookTaskIds: text("webhook-task-ids", "PATHS", "Paths of task ids in the payload", {
    default: `${defaults.webhook.taskIdPaths[0]} and similar`,
    environment: "PREFSTREAM_WEBHOOK_TASK_IDS",
  }),
  webhookDeliveryId: text(
    "webhook-delivery-id",
    "WHERE",
    "Location of unsigned delivery ids: header:NAME, or a payload path",
    {
      environment: "PREFSTREAM_WEBHOOK_DELIVERY_ID",
    },
  ),
})

type WebhookFlags = Command.Command.Config.Infer<typeof webhookFlags>

/** Options for receiving webhooks, from the flags or else from the pipeline. The receiver prints its URL to stderr. */
export const webhookOf = Effect.fnUntraced(function* (
  flags: WebhookFlags,
  otherwise: WebhookReceiver.ListenOptions | undefined,
): Effect.fn.Return<WebhookReceiver.ListenOptions | undefined, UsageError> {
  const onListening = (url: string) => Console.error(`Webhooks are received at ${url}`)
  if (flags.listen === undefined) return otherwise && { onListening, ...otherwise }
  const path = flags.webhookPath ?? WebhookReceiver.defaultPath
  if (!isPath(path)) {
    return yield* refuse("webhook-path", "expected a path such as /webhook, of letters, digits, and -._~/")
  }
  if (WebhookReceiver.isHealthPath(path))
    return yield* refuse("webhook-path", `${path} is the path of the health check`)
  const scheme = yield* schemeOf(flags)
  const taskIdPaths = flags.webhookTaskIds?.trim().split(/\s+/)
  if (taskIdPaths?.every(isPayloadPath) === false) {
    return yield* refuse("webhook-task-ids", "expected a path such as data.task_ids or data.tasks[*].id")
  }
  const deliveryId = yield* deliveryIdOf(flags.webhookDeliveryId?.trim())
  return { ...flags.listen, ...scheme, path, taskIdPaths, deliveryId, onListening }
})

const isPath = (text: string): text is `/${string}` => /^\/[\w.~/-]*$/.test(text)

const isScheme = Schema.is(Schema.Literals(WebhookScheme.schemes))

const schemeOf = Effect.fnUntraced(function* ({
  webhookHeader,
  webhookScheme = standard,
  webhookTolerance: tolerance,
}: WebhookFlags) {
  const secret = yield* Config.option(Config.Redacted("PREFSTREAM_WEBHOOK_SECRET")).pipe(Effect.mapError(asUsageError))
  const scheme = webhookScheme.trim()
  const header = webhookHeader?.trim()
  if (!isScheme(scheme)) return yield* refuse("webhook-scheme", `expected one of ${WebhookScheme.schemes.join(", ")}`)
  const secrets = secretsOf(Option.getOrUndefined(secret))
  if (!Arr.isReadonlyArrayNonEmpty(secrets)) {
    return yield* refuse("listen", "set the webhook secret in PREFSTREAM_WEBHOOK_SECRET")
  }
  if (header !== undefined && !WebhookScheme.namesHeader(scheme)) {
    return yield* refuse("webhook-header", `scheme ${scheme} has fixed header names`)
  }
  if (header !== undefined && !isHeader(header)) {
    return yield* refuse("webhook-header", "expected a header name, such as x-signature")
  }
  if (tolerance !== undefined && !WebhookScheme.signsTime(scheme)) {
    return yield* refuse("webhook-tolerance", `scheme ${scheme} does not sign a timestamp`)
  }
  const described: WebhookScheme.WebhookScheme =
    scheme === "stripe"
      ? { scheme, secrets, header, tolerance }
      : WebhookScheme.signsTime(scheme)
        ? { scheme, secrets, tolerance }
        : { scheme, secrets, header }
  yield* WebhookScheme.make(described).pipe(
    Effect.provide(layerMac),
    Effect.catchTag("UnknownScheme", asUsageError),
    Effect.catchTag("MalformedTolerance", () => refuse("webhook-tolerance", "expected 1s to 1h")),
    Effect.catchTag("MalformedSecret", ({ problem }) =>
      usageError(`PREFSTREAM_WEBHOOK_SECRET, for ${scheme}: ${problem}`),
    ),
  )
  return described
})

/** Splits secrets at line ends, and at spaces before `whsec_`. Other secrets may contain spaces. */
const secretsOf = (secret: Redacted.Redacted<string> | undefined) =>
  (secret === undefined ? "" : Redacted.value(secret))
    .split(/[\r\n]+|\s+(?=whsec_)/)
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map((text) => Redacted.make(text))

const isHeader = (text: string) => /^[\w!#$%&'*+.^`|~-]+$/.test(text)

const isPayloadPath = (text: string) => /^[^\s.[\]]+(\[\*\])?(\.[^\s.[\]]+(\[\*\])?)*$/.test(text)

const deliveryIdOf = (text: string | undefined): Effect.Effect<DeliveryIdPlace | undefined, UsageError> => {
  if (text === undefined) return Effect.undefined
  const [, header] = /^header:(.*)$/s.exec(text) ?? []
  if (header !== undefined && isHeader(header)) return Effect.succeed({ header })
  if (header === undefined && isPayloadPath(text)) return Effect.succeed({ path: text })
  return refuse("webhook-delivery-id", "expected header:NAME or a path such as id or event.id")
}
