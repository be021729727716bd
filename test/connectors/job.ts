/** A pipeline from a JSON Lines file to a dataset, over a connector and the fake of its service. */
import { Effect, Redacted, Stream } from "effect"
import type { ServiceSettings } from "../../src/api/ServiceProfile.ts"
import { votes } from "../../src/pipeline/Job.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import * as Source from "../../src/source/Source.ts"
import * as Tasks from "../../src/task/Tasks.ts"
import { folderWithItems } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import type { FakeService } from "../../src/testing/Subject.ts"

/** Unless a test waits for webhooks, tasks are polled at once, and one request follows the other. */
const quick: Partial<ServiceSettings> = {
  concurrency: 1,
  requestsPerSecond: 1000,
  pollInterval: { min: "1 milli", max: "5 millis" },
}

/** A fake of a service for the time of a scope. */
export const served = <A extends FakeService>(make: () => Promise<A>) =>
  Effect.acquireRelease(Effect.promise(make), ({ close }) => Effect.promise(close))

/** The index of the longest completion. */
export const longest = (_: string, completions: ReadonlyArray<string>) =>
  completions.reduce((best, text, i) => (text.length > completions[best]!.length ? i : best), 0)

export interface Job extends Partial<Pipeline.Settings> {
  readonly protocol: Tasks.Protocol
  readonly service: Partial<ServiceSettings>
}

export const make = Effect.fnUntraced(function* (
  { baseUrl, token }: Pick<FakeService, "baseUrl" | "token">,
  items: ReadonlyArray<object>,
  { protocol, service, ...settings }: Job,
) {
  const directory = yield* folderWithItems(items.map((item) => JSON.stringify(item)))
  const pipeline = Pipeline.make({
    ...settings,
    directory,
    source: Source.files(`${directory}/items.jsonl`),
    client: Tasks.AnnotationClient.layerProtocol(protocol),
    service: Tasks.ServiceProfile.layer({ ...quick, ...service, baseUrl, token: Redacted.make(token) }),
  })
  return {
    pipeline,
    submit: Pipeline.submit(pipeline),
    /** Collects the results and writes the dataset. */
    finish: Pipeline.run(pipeline),
    /** Polls each task once. */
    once: Pipeline.run({ ...pipeline, once: true, allowEmpty: true }),
    pairs: pairsOf(directory),
    /** The votes that the ledger has. */
    votes: Effect.provide(Stream.runCollect(votes()), Pipeline.layer(pipeline)),
  }
})
