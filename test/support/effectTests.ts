/** Tests that are written as generators, over a layer that is built anew for each of them. */
import { it } from "@effect/vitest"
import { Effect, type Layer, type Scope } from "effect"

export type Body<R> = () => Generator<Effect.Effect<unknown, unknown, R | Scope.Scope>, void, never>

/** In the test's own time. */
export const testOver =
  <R>(layer: Layer.Layer<R, unknown>) =>
  (name: string, body: Body<R>) =>
    it.effect(name, () => Effect.provide(Effect.gen(body), layer))

/** In real time. */
export const liveOver =
  <R>(layer: Layer.Layer<R, unknown>) =>
  (name: string, body: Body<R>) =>
    it.live(name, () => Effect.provide(Effect.gen(body), layer))
