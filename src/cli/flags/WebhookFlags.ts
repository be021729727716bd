/** Flags for webhooks. Error messages never contain a secret. Invalid settings end a run before it sends anything. */
import { Array as Arr, Config, Console, Effect, Option, Redacted, References } from "effect"
import type { Command } from "effect/cli"
import { defaults } from "../../api/ServiceProfile.ts"
import * as HmacSignature from "../../api/HmacSignature.ts"
import * as WebhookScheme from "../../api/WebhookScheme.ts"
import { layerMac } from "../../api/WebhookSignature.ts"
import type { DeliveryOptions } from "../../task/webhook/Handler.ts"
import * as WebhookReceiver from "../../task/webhook/WebhookReceiver.ts"
import { asUsageError, type UsageError, usageError } from "../output/ExitStatus.ts"
import { inGroup, refuse } from "./Definition.ts"
import { address, parseDuration, text } from "./Values.ts"

export const webhookFlags = inGroup("WEBHOOK", {
  listen: address(
    "listen",
    "[HOST:]PORT",
    "Receive webhooks (0: any free port; default host: 127.0.0.1) [secrets: PREFSTREAM_WEBHOOK_SECRET]",
    { isEssential: true, replaces: ["once"] },
  ),
  webhookPath: text("webhook-path", "PATH", "Path of the webhook URL", { default: WebhookReceiver.defaultPath }),
  webhookScheme: text("webhook-scheme", "SCHEME", "Signature: NAME or [NAME; ]SETTING=VALUE; …", {
    default: "standard-webhooks",
    environment: "PREFSTREAM_WEBHOOK_SCHEME",
    values: WebhookScheme.names,
  }),
  webhookTaskIds: text("webhook-task-ids", "PATHS", "Paths of task ids in the payload", {
    default: `${defaults.webhook.taskIdPaths[0]} and similar`,
    environment: "PREFSTREAM_WEBHOOK_TASK_IDS",
  }),
  webhookDeliveryId: text(
    "webhook-delivery-id",
    "WHERE",
    "Where an unsigned delivery id is: header:NAME or payload path",
    {
      environment: "PREFSTREAM_WEBHOOK_DELIVERY_ID",
    },
  ),
})

type WebhookFlags = Command.Command.Config.Infer<typeof webhookFlags>

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
    return yield* refuse("webhook-path", `${path} is the path of the health check; choose another path`)
  const scheme = yield* schemeOf(flags)
  const taskIdPaths = flags.webhookTaskIds?.trim().split(/\s+/)
  if (taskIdPaths?.every(isPayloadPath) === false) {
    return yield* refuse("webhook-task-ids", "expected a path such as data.task_ids or data.tasks[*].id")
  }
  const deliveryId = yield* deliveryIdOf(flags.webhookDeliveryId?.trim())
  return { ...flags.listen, ...scheme, path, taskIdPaths, deliveryId, onListening }
})

const isPath = (text: string): text is `/${string}` => /^\/[\w.~/-]*$/.test(text)

/** A semicolon separates settings only before `NAME=` or at the end, so that values can contain semicolons. */
const settingsOf = Effect.fnUntraced(function* (text: string) {
  const [first = "", ...others] = text.trim().split(/;\s*(?=\w+=|$)/)
  const isName = !first.includes("=")
  const settings: Record<string, unknown> = isName ? { ...(yield* WebhookScheme.settingsOf(first.trim())) } : {}
  for (const part of [...(isName ? [] : [first]), ...others].filter((part) => part !== "")) {
    const [, name = "", value = ""] = /^([^=]*)=(.*)$/s.exec(part.trim()) ?? []
    settings[name] = name === "tolerance" ? Option.getOrElse(parseDuration(value), () => value) : value
  }
  return yield* HmacSignature.validate({ header: "", ...settings })
})

const schemeOf = Effect.fnUntraced(
  function* ({ webhookScheme }: WebhookFlags) {
    const secret = yield* Config.option(Config.Redacted("PREFSTREAM_WEBHOOK_SECRET")).pipe(
      Effect.mapError(asUsageError),
    )
    const secrets = secretsOf(Option.getOrUndefined(secret))
    if (!Arr.isReadonlyArrayNonEmpty(secrets)) {
      return yield* refuse("listen", "set the webhook secret in PREFSTREAM_WEBHOOK_SECRET")
    }
    const scheme = webhookScheme === undefined ? undefined : yield* settingsOf(webhookScheme)
    yield* WebhookScheme.make({ scheme, secrets }).pipe(
      Effect.provide(layerMac),
      Effect.provideService(References.MinimumLogLevel, "None"),
    )
    return { scheme, secrets }
  },
  Effect.catchTags({
    InvalidWebhookSetting: ({ problem, setting }) =>
      refuse("webhook-scheme", setting === "scheme" ? problem : `${setting}: ${problem}`),
    MalformedSecret: ({ problem }) => usageError(`PREFSTREAM_WEBHOOK_SECRET: ${problem}`),
  }),
)

/** Splits at line ends, and at spaces before `whsec_`. Any other space may be part of a secret. */
const secretsOf = (secret: Redacted.Redacted<string> | undefined) =>
  (secret === undefined ? "" : Redacted.value(secret))
    .split(/[\r\n]+|\s+(?=whsec_)/)
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map((text) => Redacted.make(text))

const isPayloadPath = (text: string) => /^[^\s.[\]]+(\[\*\])?(\.[^\s.[\]]+(\[\*\])?)*$/.test(text)

const deliveryIdOf = (text: string | undefined): Effect.Effect<DeliveryOptions["deliveryId"], UsageError> => {
  if (text === undefined) return Effect.undefined
  const [, header] = /^header:(.*)$/s.exec(text) ?? []
  if (header !== undefined && HmacSignature.isHeaderName(header)) return Effect.succeed({ header })
  if (header === undefined && isPayloadPath(text)) return Effect.succeed({ path: text })
  return refuse("webhook-delivery-id", "expected header:NAME or a path such as id or event.id")
}
