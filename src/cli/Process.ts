/** Adapter: runs the command line on Node, and exits with its status. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit, Layer, Queue, Record, Runtime } from "effect"
import * as ExitStatus from "./output/ExitStatus.ts"
import * as LogFormat from "./output/LogFormat.ts"
import * as HttpClient from "../node/HttpClient.ts"
import * as HeapGrowth from "../node/HeapGrowth.ts"
import * as Stderr from "./output/Stderr.ts"
import * as Stdout from "./output/Stdout.ts"
import { main } from "./Main.ts"
import * as Signals from "./Signals.ts"

const platform = Layer.merge(NodeServices.layer, HttpClient.layer)

// Some versions of Node warn that SQLite is experimental. Users cannot act on this warning, so it is not printed.
process.removeAllListeners("warning").on("warning", ({ message, name }) => {
  if (name !== "ExperimentalWarning") Stderr.print("warning", `${name}: ${message}`)
})

HeapGrowth.limitGrowth()

let isStopped = false

const program = Effect.gen(function* () {
  const received = yield* Queue.unbounded<Signals.Signal>()
  for (const signal of Record.keys(Signals.signals)) {
    process.on(signal, () => {
      isStopped = true
      Queue.offerUnsafe(received, signal)
    })
  }
  const args = process.argv.slice(2)
  return yield* LogFormat.applied(args, ExitStatus.usage, Signals.supervise(main(args), received))
}).pipe(Effect.provide(platform))

const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
  fiber.addObserver((exit) =>
    teardown(exit, (status) => {
      if (isStopped) process.exit(status)
      // Without `exit`, an abandoned request would keep the process alive.
      Stdout.whenWritten((isLost) => process.exit(isLost ? ExitStatus.failure : status))
    }),
  )
})

runMain(program, {
  teardown: (exit, onExit) =>
    Exit.isSuccess(exit) ? onExit(Number(exit.value)) : Runtime.defaultTeardown(exit, onExit),
})
