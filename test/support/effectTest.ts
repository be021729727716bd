/** Tests whose bodies are generators, as `Effect.gen` takes them. */
import { it } from "@effect/vitest"
import { Effect, type Layer, type Scope } from "effect"

export type Body<R> = () => Effect.fn.Return<void, unknown, R>

/** Runs each body as `it` runs its effect: `it.effect` at the test clock's time, `it.live` in real time. */
export const effectTest =
  <R>(it: (name: string, effect: () => Effect.Effect<void, unknown, R>, timeout?: number) => void) =>
  (name: string, body: Body<R>, timeout?: number) =>
    it(name, () => Effect.gen(body), timeout)

/** Runs each body at the test clock's time, over a layer of its own. */
export const testOver = <R>(layer: Layer.Layer<R, unknown>) =>
  effectTest<R | Scope.Scope>((name, effect) => it.effect(name, () => Effect.provide(effect(), layer)))

/** Runs each body in real time, over a layer of its own. */
export const liveOver = <R>(layer: Layer.Layer<R, unknown>) =>
  effectTest<R | Scope.Scope>((name, effect) => it.live(name, () => Effect.provide(effect(), layer)))
