/**
 * Prompts: text, or conversations as messages with roles.
 *
 * Guarantees: a decoded conversation has at least one message, and no text with a lone surrogate.
 */
import { Schema } from "effect"
import { WellFormedText } from "./Text.ts"

/** One turn. Usual roles: `system`, `user`, `assistant`, `tool`. */
export const Message = Schema.Struct({
  /** Any name, as the input has it. */
  role: WellFormedText,
  /** May be blank, but not all messages of a prompt. */
  content: WellFormedText,
})
export type Message = typeof Message.Type

/** Plain text, or a conversation whose next turn is the completion. */
export const Prompt = Schema.Union([WellFormedText, Schema.NonEmptyArray(Message)])
export type Prompt = typeof Prompt.Type
