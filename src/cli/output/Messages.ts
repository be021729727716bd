/**
 * What is told beside a command's output, on stderr. While it works, a line each: when, and
 * what; a warning and an error are called so, a bug has its stack.
 */
import { Array as Arr, Cause, Console, Logger } from "effect"
import { printable } from "./Summary.ts"

/** Tells a person what came of a command, or is to be done about it. */
export const say = (message: string) => Console.error(`prefstream: ${printable(message)}`)

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
