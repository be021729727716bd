/** Adapter: writes to stderr. Every start of prefstream loads this file, so it imports only `node:process`. */
import process from "node:process"

let isJson = false
let isDrawn = false

const writeText = process.stderr.write.bind(process.stderr)

type Written = (error?: Error | null) => void

const writeBy = (change: (text: string) => string): void => {
  process.stderr.write = (chunk: string | Uint8Array, encoding?: BufferEncoding | Written, done?: Written) =>
    writeText(change(Buffer.from(chunk).toString()), typeof encoding === "function" ? encoding : done)
}

export const line = (level: string, message: string, now: number): string =>
  // @effect-diagnostics-next-line globalDate:off -- `DateTime` would load Effect
  JSON.stringify({ time: new Date(now).toISOString(), level, message })

const isLine = (text: string) => text.startsWith('{"time":')

const linesOf = (text: string, level: string): string =>
  text
    .split("\n")
    .filter((each) => each.trim() !== "")
    .map((each) => `${isLine(each) ? each : line(level, each, performance.timeOrigin + performance.now())}\n`)
    .join("")

export const print = (level: "error" | "warning", message: string): void => {
  process.stderr.write(isJson ? linesOf(message.replace(/^prefstream: /, ""), level) : `${message}\n`)
}

export const asJson = (): void => {
  isJson = true
  writeBy((text) => linesOf(text, "info"))
}

const clearLine = "\r\u001b[2K"

export const draw = (text: string): void => {
  writeText(clearLine + (process.stderr.columns > 0 ? text.slice(0, process.stderr.columns - 1) : text))
  isDrawn = text !== ""
  writeBy((others) => {
    const before = isDrawn && others !== "" ? clearLine : ""
    isDrawn &&= before === ""
    return before + others
  })
}
