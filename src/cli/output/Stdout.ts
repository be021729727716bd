/** Adapter for stdout: prints the first write error and sets the exit status to 1. Ignores `EPIPE` (a closed pipe). */
import process from "node:process"
import { print } from "./Stderr.ts"

let isFailed = false

// Node's console ignores write errors of stdout, so they are handled here.
process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  if (code === "EPIPE" || isFailed) return
  isFailed = true
  process.exitCode = 1
  print("error", `prefstream: cannot write to standard output: ${message}`)
})
// Without a listener, an error of stderr would end the process.
process.stderr.on("error", () => {})

export const columns = (): number => process.stdout.columns ?? 0

export const whenWritten = (done: (isLost: boolean) => void): void => {
  process.stdout.write("", () => {
    process.stderr.write("", () => {
      // If a write to stdout failed, Node emits the error after these callbacks. `setImmediate` waits for the error.
      setImmediate(() => done(isFailed))
    })
  })
}
