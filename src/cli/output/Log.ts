/** Log messages on stderr, one line each: time, level, message; a bug with its stack. */
import { Array as Arr, Cause, Logger } from "effect"
import { printable } from "./Text.ts"

const levels: { readonly [level: string]: string } = { Warn: "warning: ", Error: "error: ", Fatal: "error: " }

const textOf = (message: unknown): string =>
  typeof message === "string" ? message : message instanceof Error ? message.message : JSON.stringify(message)

const line = Logger.make<unknown, string>(({ cause, date, logLevel, message }) => {
  const time = date.toISOString().replace(/\.\d+Z$/, "Z")
  const reasons = cause.reasons.length === 0 ? [] : [Cause.pretty(cause)]
  return printable(`${time} ${levels[logLevel] ?? ""}${[...Arr.ensure(message).map(textOf), ...reasons].join(": ")}`)
})

export const layer = Logger.layer([Logger.withConsoleError(line)])
