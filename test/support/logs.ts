/** What is logged while an effect runs. */
import { Effect, Logger } from "effect"

export interface Logged {
  readonly messages: Array<string>
  readonly during: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Collects messages in place of showing them. */
export const make = (): Logged => {
  const messages: Array<string> = []
  const logger = Logger.make(({ message }) => {
    messages.push(Array.isArray(message) ? message.join(" ") : String(message))
  })
  return { messages, during: Effect.provide(Logger.layer([logger])) }
}
