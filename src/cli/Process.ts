/**
 * Adapter: the command line on Node: the process's arguments and signals in, its exit status out.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit, Layer, Queue, Record, Runtime } from "effect"
import * as ExitStatus from "./output/ExitStatus.ts"
import * as HttpClient from "../node/HttpClient.ts"
import { main } from "./Main.ts"
import * as Signals from "./Signals.ts"

const platform = Layer.merge(NodeServices.layer, HttpClient.layer)

// Node 22 says of SQLite that it is experimental; that is no news for a user.
process.removeAllListeners("warning").on("warning", ({ message, name }) => {
  if (name !== "ExperimentalWarning") process.stderr.write(`${name}: ${message}\n`)
})

let isStopped = false
let isOutputLost = false

// The console keeps silent about what can't be written. A reader that has read enough, as `head` does, is no failure.
process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  if (code === "EPIPE" || isOutputLost) return
  isOutputLost = true
  process.stderr.write(`prefstream: can't write to standard output: ${message}\n`)
})
// There is nowhere to say it.
process.stderr.on("error", () => {})

/** Until all that was printed is written, or can't be. */
const flushed = (stream: NodeJS.WriteStream) =>
  Effect.callback<void>((resume) => void stream.write("", () => resume(Effect.void)))

const program = Effect.gen(function* () {
  const received = yield* Queue.unbounded<Signals.Signal>()
  for (const signal of Record.keys(Signals.signals)) {
    process.on(signal, () => {
      isStopped = true
      Queue.offerUnsafe(received, signal)
    })
  }
  return yield* Signals.supervise(Effect.provide(main(process.argv.slice(2)), platform), received)
})

const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
  fiber.addObserver((exit) =>
    teardown(exit, (status) => {
      // One that was stopped may have a reader that does not read any more.
      if (isStopped) process.exit(status)
      // What was left unfinished, such as a request when the time was over, would keep the process alive.
      Effect.runFork(
        Effect.andThen(
          Effect.all([flushed(process.stdout), flushed(process.stderr)], { concurrency: 2 }),
          Effect.sync(() => process.exit(isOutputLost ? ExitStatus.failure : status)),
        ),
      )
    }),
  )
})

runMain(program, {
  teardown: (exit, onExit) =>
    Exit.isSuccess(exit) ? onExit(Number(exit.value)) : Runtime.defaultTeardown(exit, onExit),
})
