/**
 * What is told while a command works, a line each on stderr: when, and what; a warning and an
 * error are called so. A bug has its stack.
 */
import { Array as Arr, Cause, Logger } from "effect"
import { printable } from "./Summary.ts"

/** Of whole seconds, in UTC. */
const timeOf = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, "Z")

const levels: { readonly [level: string]: string } = { Warn: "warning: ", Error: "error: ", Fatal: "error: " }

const wordsOf = (message: unknown): string =>
  typeof message === "string" ? message : message instanceof Error ? message.message : JSON.stringify(message)

const line = Logger.make<unknown, string>(({ cause, date, logLevel, message }) => {
  const words = Arr.ensure(message).map(wordsOf)
  const reasons = cause.reasons.length === 0 ? [] : [Cause.pretty(cause)]
  return printable(`${timeOf(date)} ${levels[logLevel] ?? ""}${[...words, ...reasons].join(": ")}`)
})

export const layer = Logger.layer([Logger.withConsoleError(line)])
