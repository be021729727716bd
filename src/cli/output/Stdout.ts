/**
 * Adapter: standard output: its width, and its errors, such as a full disk.
 *
 * Guarantees: the first error is reported on stderr, and the process ends with status 1. A reader that closes the pipe
 * early, as `head` does, is no failure.
 */
import process from "node:process"
import { print } from "./Stderr.ts"

let isFailed = false

// The console ignores errors of its stream.
process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  if (code === "EPIPE" || isFailed) return
  isFailed = true
  process.exitCode = 1
  print("error", `prefstream: cannot write to standard output: ${message}`)
})
// An error of stderr cannot be reported anywhere.
process.stderr.on("error", () => {})

/** The width of the terminal, 0 if output goes elsewhere. */
export const columns = (): number => process.stdout.columns ?? 0

/** Calls `done` once all output is written or has failed, with whether any was lost. */
export const whenWritten = (done: (isLost: boolean) => void): void => {
  process.stdout.write("", () => {
    process.stderr.write("", () => {
      // Node emits the error event after the callback of the next write.
      setImmediate(() => done(isFailed))
    })
  })
}
