/**
 * Adapter: the command line on Node: the process's arguments and signals in, its exit status out.
 */
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { Effect, Exit, Layer, Queue, Record, Runtime } from "effect"
import { main } from "./Main.ts"
import * as Stop from "./Stop.ts"

const platform = Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici)

// Node 22 says of SQLite that it is experimental; that is no news for a user.
process.removeAllListeners("warning").on("warning", ({ message, name }) => {
  if (name !== "ExperimentalWarning") process.stderr.write(`${name}: ${message}\n`)
})

let isStopped = false

const program = Effect.gen(function* () {
  const received = yield* Queue.unbounded<Stop.Signal>()
  for (const signal of Record.keys(Stop.signals)) {
    process.on(signal, () => {
      isStopped = true
      Queue.offerUnsafe(received, signal)
    })
  }
  return yield* Stop.supervise(Effect.provide(main(process.argv.slice(2)), platform), received)
})

const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
  fiber.addObserver((exit) =>
    teardown(exit, (status) => {
      // A command that was stopped may have left behind what keeps the process alive; else it ends
      // by itself, once all that it printed is written.
      if (isStopped || status !== 0) process.exit(status)
      for (const signal of Record.keys(Stop.signals)) process.removeAllListeners(signal)
    }),
  )
})

runMain(program, {
  teardown: (exit, onExit) =>
    Exit.isSuccess(exit) ? onExit(Number(exit.value)) : Runtime.defaultTeardown(exit, onExit),
})
