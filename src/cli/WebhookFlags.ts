/**
 * The flags that say where to receive the service's webhooks, and what they become.
 *
 * Guarantees: secrets are `Redacted` from the moment they are read, and stand in no message.
 */
import { Array as Arr, Config, Console, Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { readSecret } from "../api/WebhookSignature.ts"
import * as WebhookReceiver from "../task/WebhookReceiver.ts"
import { UsageError } from "./ExitStatus.ts"

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
  webhookSecret: Flag.Redacted("webhook-secret").pipe(
    Flag.withMetavar("SECRET"),
    Flag.withDescription(
      "Secret of the webhook, whsec_...; several, separated by spaces, while one is replaced; better given in the environment [PREFSTREAM_WEBHOOK_SECRET]",
    ),
    Flag.withFallbackConfig(Config.Redacted("PREFSTREAM_WEBHOOK_SECRET")),
    Flag.optional,
  ),
  webhookPath: Flag.String("webhook-path").pipe(
    Flag.withMetavar("PATH"),
    Flag.withDescription(`Path that webhooks are sent to (default: ${WebhookReceiver.defaultPath})`),
    Flag.optional,
  ),
}

interface WebhookFlags {
  readonly listen: Option.Option<{ readonly host: string | undefined; readonly port: number }>
  readonly webhookSecret: Option.Option<Redacted.Redacted<string>>
  readonly webhookPath: Option.Option<string>
}

const isPath = (text: string): text is `/${string}` => /^\/[\w.~/-]*$/.test(text)

/** Where the flags say to listen, or else what the pipeline says, with its URL told on standard error. */
export const webhookOf = Effect.fnUntraced(function* (
  flags: WebhookFlags,
  otherwise: WebhookReceiver.ListenOptions | undefined,
): Effect.fn.Return<WebhookReceiver.ListenOptions | undefined, UsageError> {
  const onListening = (url: string) => Console.error(`Webhooks are received at ${url}`)
  if (Option.isNone(flags.listen)) {
    if (Option.isSome(flags.webhookPath))
      return yield* new UsageError({ message: "--webhook-path: only with --listen" })
    return otherwise && { onListening, ...otherwise }
  }
  const path = Option.getOrElse(flags.webhookPath, () => WebhookReceiver.defaultPath)
  if (!isPath(path)) {
    return yield* new UsageError({
      message: "--webhook-path: expected a path such as /webhook, of letters, digits and -._~/",
    })
  }
  const texts = Option.match(flags.webhookSecret, {
    onNone: () => [],
    onSome: (given) =>
      Redacted.value(given)
        .split(/\s+/)
        .filter((text) => text !== ""),
  })
  const secrets = texts.map((text) => Redacted.make(text))
  if (!Arr.isReadonlyArrayNonEmpty(secrets)) {
    return yield* new UsageError({ message: "--listen: set the webhook's secret in PREFSTREAM_WEBHOOK_SECRET" })
  }
  yield* Effect.forEach(secrets, readSecret).pipe(
    Effect.mapError(
      ({ problem }) => new UsageError({ message: `PREFSTREAM_WEBHOOK_SECRET or --webhook-secret: ${problem}` }),
    ),
  )
  return { ...flags.listen.value, path, secrets, onListening }
})
