/**
 * From a program that does not use Effect: the quickstart's pipeline as a promise of its report.
 *
 *     npx node pipelines/promises.ts
 */
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { Pipeline } from "prefstream"
import quickstart from "./quickstart.ts"

const platform = Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici)

const run = () =>
  Pipeline.run(quickstart).pipe(
    Effect.provide(Pipeline.layer(quickstart)),
    Effect.provide(platform),
    Effect.scoped,
    Effect.runPromise,
  )

try {
  const { dataset, rejected, status } = await run()
  console.log(`${status}: ${dataset?.rows ?? 0} pairs, ${rejected} rejected`)
} catch (failure) {
  console.error(failure instanceof Error ? failure.message : failure)
  process.exitCode = 1
}
