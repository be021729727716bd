/** Sends a signed test webhook to the receiver. This does not prove that the service signs in the same way. */
import { Clock, Deferred, Effect, FileSystem, Layer, Option, Redacted, References } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import * as WebhookScheme from "../../api/WebhookScheme.ts"
import { layerMac } from "../../api/WebhookSignature.ts"
import { statusText } from "../../node/StatusText.ts"
import { noAnswer } from "../../task/client/AnnotationClientError.ts"
import { Ledger } from "../../task/ledger/Ledger.ts"
import * as WebhookReceiver from "../../task/webhook/WebhookReceiver.ts"
import { webhookOf } from "../flags/WebhookFlags.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { failed, type Finding, notChecked, timeLimit } from "../output/Finding.ts"

export const webhook = Effect.fnUntraced(
  function* (flags: Parameters<typeof webhookOf>[0] & { readonly webhookUrl: string | undefined }) {
    const name = "webhook"
    const options = yield* webhookOf(flags, undefined)
    if (options === undefined) return notChecked(name, "no --listen: results are polled")
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const listening = yield* Deferred.make<string>()
    const otherPath = yield* Deferred.make<string>()
    const profile = ServiceProfile.layer({ baseUrl: "http://127.0.0.1/v1", token: Redacted.make("none") })
    yield* WebhookReceiver.layer({
      ...options,
      onListening: (url) => Deferred.succeed(listening, url),
      onOtherPath: (path) => Deferred.succeed(otherPath, path),
    }).pipe(
      Layer.provide([Ledger.layerFile(`${folder}/ledger.db`), profile]),
      Layer.build,
      Effect.provideService(References.MinimumLogLevel, "Error"),
    )
    const url = flags.webhookUrl ?? (yield* Deferred.await(listening))
    const { sign } = yield* WebhookScheme.make(options)
    const body = new TextEncoder().encode(JSON.stringify({ type: "prefstream.doctor", data: {} }))
    const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const response = yield* HttpClientRequest.post(url).pipe(
      HttpClientRequest.setHeaders(yield* sign({ id: `doctor_${seconds}`, timestamp: seconds, body })),
      HttpClientRequest.bodyUint8Array(body, "application/json"),
      HttpClient.execute,
      Effect.timeout(timeLimit),
      Effect.mapError((failure) =>
        ExitStatus.usageError(`${url}: ${noAnswer(failure).detail}: check the address, proxy, and firewall`),
      ),
    )
    const wrong = (message: string): Finding => ({ name, state: "failed", message: `${url} ${message}` })
    const arrivedPath = yield* Deferred.poll(otherPath)
    if (Option.isSome(arrivedPath)) {
      const arrived = yield* arrivedPath.value
      const expected = options.path ?? WebhookReceiver.defaultPath
      return wrong(
        `leads to the path ${arrived}, but prefstream receives webhooks at the path ${expected}: set --webhook-path ${arrived}, or change the webhook URL at the service`,
      )
    }
    const { status } = response
    if (status === 204) return { name, state: "ok", message: `${url}: a signed test delivery was accepted` } as const
    const why =
      status === 401
        ? "the signature does not match: a proxy must forward headers and body unchanged"
        : "check that the URL leads to the --listen address and --webhook-path"
    return wrong(`answered ${statusText(status)}: ${why}`)
  },
  Effect.scoped,
  Effect.provide(layerMac),
  Effect.catch((failure) => Effect.succeed(failed("webhook", failure))),
)
