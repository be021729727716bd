/** A log message is one line with the time, the level, and the text. A bug is logged with its stack. */
import { Array as Arr, Cause, Logger } from "effect"
import { inFlags } from "./Flags.ts"
import * as LogFormat from "./LogFormat.ts"
import * as Stderr from "./Stderr.ts"
import { printable } from "./Text.ts"

const levels: { readonly [level: string]: string } = { Warn: "warning", Error: "error", Fatal: "error" }

const textOf = (message: unknown): string =>
  typeof message === "string" ? message : message instanceof Error ? message.message : JSON.stringify(message)

const line = Logger.make<unknown, string>(({ cause, date, fiber, logLevel, message }) => {
  const reasons = cause.reasons.length === 0 ? [] : [Cause.pretty(cause)]
  const text = [...Arr.ensure(message).map(textOf).map(inFlags), ...reasons].join(": ")
  const level = levels[logLevel]
  if (fiber.getRef(LogFormat.Current) === "json") return Stderr.line(level ?? "info", text, date.getTime())
  return printable(`${date.toISOString().replace(/\.\d+Z$/, "Z")} ${level === undefined ? "" : `${level}: `}${text}`)
})

export const layer = Logger.layer([Logger.withConsoleError(line)])
