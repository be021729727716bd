/**
 * Runs the quickstart's pipeline from a program that does not use Effect, as a promise of its report.
 *
 *     npx node pipelines/promises.ts
 */
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { Pipeline } from "prefstream"
import quickstart from "./quickstart.ts"

const platform = Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici)

const layer = Layer.provideMerge(Pipeline.layer(quickstart), platform)

try {
  const { dataset, rejected, status } = await Effect.runPromise(Effect.provide(Pipeline.run(quickstart), layer))
  process.stdout.write(`${status}: ${dataset?.rows ?? 0} pairs, ${rejected} rejected\n`)
} catch (failure) {
  process.stderr.write(`${failure instanceof Error ? failure.message : String(failure)}\n`)
  process.exitCode = 1
}
