/**
 * Adapter: standard error: text as it is printed, or one JSON object per line; and a line that is redrawn on a terminal.
 *
 * Guarantees: after `asJson`, whatever this process prints there is an object per line, whoever prints it; what anybody
 * prints replaces the redrawn line, rather than being appended to it. Imports nothing, since it is loaded at each start.
 */
import process from "node:process"

let isJson = false
let isDrawn = false

const writeText = process.stderr.write.bind(process.stderr)

type Written = (error?: Error | null) => void

const writeBy = (change: (text: string) => string): void => {
  process.stderr.write = (chunk: string | Uint8Array, encoding?: BufferEncoding | Written, done?: Written) =>
    writeText(change(Buffer.from(chunk).toString()), typeof encoding === "function" ? encoding : done)
}

/** `now` in milliseconds since 1970. */
export const line = (level: string, message: string, now: number): string =>
  // @effect-diagnostics-next-line globalDate:off -- `DateTime` would load Effect
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
  process.stderr.write(isJson ? linesOf(message, level) : `${message}\n`)
}

/** Makes text that anybody prints a message of level `info`, line by line. */
export const asJson = (): void => {
  isJson = true
  writeBy((text) => linesOf(text, "info"))
}

const clearLine = "\r\u001b[2K"

/** Draws the line anew, cut at the terminal's width; an empty text clears it. */
export const draw = (text: string): void => {
  writeText(clearLine + (process.stderr.columns > 0 ? text.slice(0, process.stderr.columns - 1) : text))
  isDrawn = text !== ""
  writeBy((others) => {
    const before = isDrawn && others !== "" ? clearLine : ""
    isDrawn &&= before === ""
    return before + others
  })
}
