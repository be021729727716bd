/**
 * Each night at two, submits the new items of a folder, waits for results until the next evening (by webhook and by
 * polling), and writes the dataset of all results so far. You can stop the program at any time; nothing is lost.
 *
 *     export PREFSTREAM_BASE_URL=https://annotation.example/v1 PREFSTREAM_TOKEN=… PREFSTREAM_WEBHOOK_SECRET=whsec_…
 *     npx node pipelines/nightly.ts [--now]
 *
 * If cron or systemd starts your jobs, `prefstream run items --dir job --once` does the same without waiting.
 */
import { NodeHttpClient, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Config, Effect, Layer, Option } from "effect"
import { Pipeline, Source, Tasks } from "prefstream"

const service = Layer.unwrap(
  Effect.gen(function* () {
    const baseUrl = yield* Config.String("PREFSTREAM_BASE_URL")
    const token = yield* Config.Redacted("PREFSTREAM_TOKEN")
    return Tasks.ServiceProfile.layer({ baseUrl, token })
  }),
)

const pipeline = Pipeline.make({ directory: "nightly", source: Source.files("items"), service })

const program = Effect.gen(function* () {
  const secret = yield* Config.Redacted("PREFSTREAM_WEBHOOK_SECRET")
  const port = yield* Config.Int("WEBHOOK_PORT").pipe(Config.withDefault(8485))

  const night = Effect.gen(function* () {
    yield* Pipeline.submit(pipeline)
    yield* Pipeline.collect({ ...pipeline, timeout: "16 hours", webhook: { secrets: [secret], port } })
    const { dataset } = yield* Pipeline.exportDataset(pipeline)
    const pairs = Option.match(dataset, { onNone: () => 0, onSome: ({ rows }) => rows })
    yield* Effect.logInfo(`the dataset has ${pairs} pairs`)
  })

  const cron = yield* Effect.fromResult(Pipeline.CronJob.parse("0 2 * * *", "Europe/Berlin"))
  const now = process.argv.includes("--now")
  // If a night fails, for example because the service was down for too long, the failure is logged and the next night
  // still runs.
  return yield* Pipeline.CronJob.run(Effect.catchCause(night, Effect.logError), { cron, now })
})

program.pipe(Effect.provide(Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici)), NodeRuntime.runMain)
