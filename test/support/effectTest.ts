import { Effect } from "effect"

/** Tests whose bodies are generators as `Effect.gen` takes them, each run as `it` runs its effect. */
export const effectTest =
  <R>(it: (name: string, effect: () => Effect.Effect<void, unknown, R>, timeout?: number) => void) =>
  (name: string, body: () => Effect.fn.Return<void, unknown, R>, timeout?: number) =>
    it(name, () => Effect.gen(body), timeout)
