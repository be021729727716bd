/**
 * Adapter: the width of stdout, and its errors, such as a full disk. The first error is printed to stderr, and the
 * process ends with status 1. It is not an error if the reader closes the pipe early, as `head` does.
 */
import process from "node:process"
import { print } from "./Stderr.ts"

let isFailed = false

// Node's console ignores errors of its stream.
process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  if (code === "EPIPE" || isFailed) return
  isFailed = true
  process.exitCode = 1
  print("error", `prefstream: cannot write to standard output: ${message}`)
})
// An error of stderr cannot be reported anywhere. Without a listener, it would end the process.
process.stderr.on("error", () => {})

/** The width of the terminal in columns; 0 if stdout is not a terminal. */
export const columns = (): number => process.stdout.columns ?? 0

/** Calls `done` once all output is written or has failed. `isLost` tells whether some output was lost. */
export const whenWritten = (done: (isLost: boolean) => void): void => {
  process.stdout.write("", () => {
    process.stderr.write("", () => {
      // Node emits the error event after the callback of the next write.
      setImmediate(() => done(isFailed))
    })
  })
}
