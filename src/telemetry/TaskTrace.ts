/**
 * Gives each attempt at a task one trace, across processes. The trace's id is the first half of the task's idempotency
 * key (a SHA-256 in hexadecimal digits), so it need not be stored. Spans link to the spans around them. Their common
 * parent is not exported.
 */
import { Effect, Option, Tracer } from "effect"

export const span = (name: string, idempotencyKey: string, attributes: Record<string, unknown>) => {
  const parent = Tracer.externalSpan({ traceId: idempotencyKey.slice(0, 32), spanId: idempotencyKey.slice(32, 48) })
  return <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Effect.option(Effect.currentParentSpan), (outer) => {
      const links = Option.toArray(Option.map(outer, (span) => ({ span, attributes: {} })))
      return Effect.withSpan(effect, name, { parent, links, attributes })
    })
}
