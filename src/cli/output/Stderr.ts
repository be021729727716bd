/**
 * Adapter: standard error: text as it is printed, or one JSON object per line.
 *
 * Guarantees: after `asJson`, whatever this process prints there is an object per line, whoever prints it. Imports
 * nothing, since it is loaded at each start.
 */
import process from "node:process"

let isJson = false

const writeText = process.stderr.write.bind(process.stderr)

/** `now` in milliseconds since 1970. */
export const line = (level: string, message: string, now: number): string =>
  JSON.stringify({ time: new Date(now).toISOString(), level, message })

const isLine = (text: string) => text.startsWith('{"time":')

/** Of a text, whose lines may be objects already. */
const linesOf = (text: string, level: string): string =>
  text
    .split("\n")
    .filter((each) => each.trim() !== "")
    .map((each) => `${isLine(each) ? each : line(level, each, performance.timeOrigin + performance.now())}\n`)
    .join("")

/** Prints a message from outside of Effect. */
export const print = (level: "error" | "warning", message: string): void => {
  writeText(isJson ? linesOf(message, level) : `${message}\n`)
}

/** Makes text that anybody prints a message of level `info`, line by line. */
export const asJson = (): void => {
  isJson = true
  process.stderr.write = (
    chunk: string | Uint8Array,
    encoding?: BufferEncoding | ((error?: Error | null) => void),
    done?: (error?: Error | null) => void,
  ) => writeText(linesOf(Buffer.from(chunk).toString(), "info"), typeof encoding === "function" ? encoding : done)
}
