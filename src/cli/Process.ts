/**
 * The command line on Node: the process's arguments in, its exit status out.
 */
import { NodeHttpClient, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, Exit, Layer, Runtime } from "effect"
import { main } from "./Main.ts"

const platform = Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici)

// Node 22 says of SQLite that it is experimental; that is no news for a user.
process.removeAllListeners("warning").on("warning", ({ message, name }) => {
  if (name !== "ExperimentalWarning") process.stderr.write(`${name}: ${message}\n`)
})

NodeRuntime.runMain(Effect.provide(main(process.argv.slice(2)), platform), {
  teardown: (exit, onExit) =>
    Exit.isSuccess(exit) ? onExit(Number(exit.value)) : Runtime.defaultTeardown(exit, onExit),
})
