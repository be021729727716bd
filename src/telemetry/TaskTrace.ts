/** All processes use the same trace for an attempt at a task: the trace id is the first half of the idempotency key. */
import { Effect, Option, Tracer } from "effect"

export const span = (name: string, idempotencyKey: string, attributes: Record<string, unknown>) => {
  const parent = Tracer.externalSpan({ traceId: idempotencyKey.slice(0, 32), spanId: idempotencyKey.slice(32, 48) })
  return <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Effect.option(Effect.currentParentSpan), (outer) => {
      const links = Option.toArray(Option.map(outer, (span) => ({ span, attributes: {} })))
      return Effect.withSpan(effect, name, { parent, links, attributes })
    })
}
