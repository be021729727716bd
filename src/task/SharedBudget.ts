/** A client that keeps to the limits that all workers of a job share, where it is one of them. */
import { Effect, Layer, Option } from "effect"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import { AnnotationClient } from "./client/AnnotationClient.ts"
import { RequestBudget } from "./client/RequestBudget.ts"
import { Ledger } from "./ledger/Ledger.ts"

const layerBudget = Layer.effect(
  RequestBudget,
  Effect.gen(function* () {
    const ledger = yield* Ledger
    if (!ledger.isShared) return Option.none()
    const { requestsPerSecond } = yield* ServiceProfile
    return Option.some({
      atOnce: ledger.shareOf,
      // Without the ledger nothing is sent, and the worker ends.
      take: (wanted: number) =>
        Effect.orElseSucceed(ledger.takeRequests(wanted, requestsPerSecond), () => ({
          granted: 0,
          pause: 0,
          next: 1000,
        })),
      pause: (millis: number) => Effect.ignore(ledger.pauseRequests(millis)),
    })
  }),
)

export const client = AnnotationClient.layer.pipe(Layer.provide(layerBudget))
