/** A result of `doctor` is one line. If there is a problem, the line says what to do. */
import { messageOf } from "./Failure.ts"
import { inFlags } from "./Flags.ts"

export type State = "ok" | "warning" | "failed" | "not checked"

export interface Finding {
  readonly name: string
  readonly state: State
  readonly message: string
}

export const failed = (name: string, failure: unknown): Finding => ({
  name,
  state: "failed",
  message: inFlags(messageOf(failure)),
})

export const notChecked = (name: string, message: string): Finding => ({ name, state: "not checked", message })

export const timeLimit = "10 seconds"
