/**
 * Adapter: standard output that can't be written.
 *
 * Guarantees: said once on stderr, and the process ends with status 1. A reader that has read enough, as `head` does,
 * is no failure.
 */
import process from "node:process"

let isFailed = false

// The console keeps silent about what can't be written.
process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  if (code === "EPIPE" || isFailed) return
  isFailed = true
  process.exitCode = 1
  process.stderr.write(`prefstream: can't write to standard output: ${message}\n`)
})
// There is nowhere to say it.
process.stderr.on("error", () => {})

/** Calls `done` once all that was printed is written, or can't be: whether some of it is lost. */
export const whenWritten = (done: (isLost: boolean) => void): void => {
  process.stdout.write("", () => {
    process.stderr.write("", () => {
      // An error comes after the callback of what was written next.
      setImmediate(() => done(isFailed))
    })
  })
}
