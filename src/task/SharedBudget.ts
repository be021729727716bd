/** An annotation client. In a worker, it obeys the request limits that all workers of the job share. */
import { Effect, Layer, Option } from "effect"
import type { HttpClient } from "effect/http"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import { AnnotationClient } from "./client/AnnotationClient.ts"
import { RequestBudget } from "./client/RequestBudget.ts"
import { slotsPerSecond } from "./client/Throttle.ts"
import { Ledger } from "./ledger/Ledger.ts"

/** If the ledger fails, the worker sends nothing, and asks again after a second. */
const noSlots = { count: 0, first: 0, spacing: 0, pause: 1000, halvings: 0 }

const layerBudget = Layer.effect(
  RequestBudget,
  Effect.gen(function* () {
    const ledger = yield* Ledger
    if (!ledger.isShared) return Option.none()
    const perSecond = slotsPerSecond((yield* ServiceProfile).requestsPerSecond)
    return Option.some({
      atOnce: ledger.shareOf,
      take: (wanted: number) => Effect.orElseSucceed(ledger.takeSlots(wanted, perSecond), () => noSlots),
      sent: ledger.countRequest,
      pause: (millis: number) => Effect.ignore(ledger.pauseRequests(millis), { log: "Warn" }),
      halveRate: (halvings: number) => Effect.ignore(ledger.slowRequests(halvings), { log: "Warn" }),
      answered: Effect.sync(ledger.countAnswer),
    })
  }),
)

export const client = <E, R>(own: Layer.Layer<AnnotationClient, E, R> | undefined) => {
  const client: Layer.Layer<AnnotationClient, E, R | ServiceProfile | HttpClient.HttpClient> =
    own ?? AnnotationClient.layer
  return Layer.provide(client, layerBudget)
}
