#!/usr/bin/env node
/** The command line on Node. */
import { NodeHttpClient, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, Exit, Layer, Runtime } from "effect"
import { main } from "./cli/Main.ts"

NodeRuntime.runMain(
  main(process.argv.slice(2)).pipe(Effect.provide(Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici))),
  {
    teardown: (exit, onExit) =>
      Exit.isSuccess(exit) ? onExit(Number(exit.value)) : Runtime.defaultTeardown(exit, onExit),
  },
)
