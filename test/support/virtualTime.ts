/**
 * Real sockets and the test's own time: hours of waiting pass at once, and the time at
 * which a request arrives can be told exactly.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { Clock, type Duration, Effect, Fiber, Layer } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"

/** An HTTP client, and a way to run effects that use it. */
export const make = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  let underWay = 0
  const httpClient = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.transform((effect) =>
        Effect.suspend(() => {
          underWay++
          return Effect.ensuring(
            effect,
            Effect.sync(() => underWay--),
          )
        }),
      ),
    ),
  ).pipe(Layer.provide(NodeHttpClient.layerUndici))

  const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

  /** Also while the disk is asked to sync a file. */
  const isBusy = () => underWay > 0 || process.getActiveResourcesInfo().includes("FSReqCallback")

  /** Lets time pass in steps while the effect runs, but not while a request is under way. */
  const run = Effect.fnUntraced(function* <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    step: Duration.Input = "250 millis",
  ): Effect.fn.Return<A, E, R> {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) {
      yield* turn
      if (!isBusy()) yield* TestClock.adjust(step)
    }
    return yield* Fiber.join(fiber)
  })

  return { httpClient, run, now: () => clock.currentTimeMillisUnsafe() }
})
