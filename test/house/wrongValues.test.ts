/**
 * Public functions that plain JavaScript calls with wrong values: each fails with a typed error, whose message names what
 * was expected. Pure functions of a judgment or an item are not tested: their only argument is the library's own value.
 */
import { assert, describe, it } from "@effect/vitest"
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { Effect, Exit, FileSystem, Layer, Predicate, Redacted, Sink, Stream } from "effect"
import * as AnnotationService from "prefstream/service"
import * as Dataset from "prefstream/dataset"
import * as Job from "prefstream/job"
import * as Pipeline from "prefstream/pipeline"
import * as Promises from "prefstream/promises"
import * as Source from "prefstream/source"
import * as Tasks from "prefstream/tasks"
import * as Worker from "prefstream/worker"

type Call = (value: never) => unknown

const platform = Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici)

/** The failure of a promise, whose function must not throw. */
const rejection = (work: () => Promise<unknown>) => {
  const promise = work()
  return Effect.flatMap(
    Effect.promise(() => promise.then(Exit.succeed, Exit.fail)),
    (exit) => exit,
  )
}

const ledger = () =>
  Layer.unwrap(
    FileSystem.FileSystem.use((fs) =>
      Effect.map(fs.makeTempDirectoryScoped(), (directory) =>
        Pipeline.layer({
          directory,
          service: Tasks.ServiceProfile.layer({ baseUrl: "http://127.0.0.1:1/v1", token: Redacted.make("none") }),
        }),
      ),
    ),
  )

/** Neither a text, nor a list of texts, nor an object with the members that a function needs. */
const wrong: ReadonlyArray<unknown> = [
  undefined,
  null,
  5,
  Number.NaN,
  -1,
  true,
  {},
  [null],
  [5],
  () => 5,
  Symbol("s"),
  10n,
]

const calls: { readonly [name: string]: Call } = {
  "Source.files": (value) => Source.files(value).records,
  "Source.votes": (value) => Source.votes(value).records,
  "Source.join": (value) => Source.join(value).records,
  "Source.gold": Source.gold,
  "Source.texts": (value) => Source.texts(value),
  "Dataset.read": (value) => Dataset.read(value),
  "Dataset.manifest": Dataset.manifest,
  // It reports what is wrong as findings.
  "Dataset.verify": (value) =>
    Effect.flatMap(Dataset.verify(value), ({ findings }) =>
      Effect.fail({ _tag: "Finding", message: JSON.stringify(findings) }),
    ),
  "Dataset.diff": (value) => Dataset.diff(value, value),
  "Dataset.write": (value) => Stream.run(Stream.empty, Dataset.write(value)),
  "Dataset.write, directory": (value) => Stream.run(Stream.empty, Dataset.write({ directory: value })),
  "Dataset.push": (value) => Dataset.push("dataset", value),
  "Pipeline.run": Pipeline.run,
  "Pipeline.submit": Pipeline.submit,
  "Pipeline.collect": (value) => Pipeline.collect(value),
  "Pipeline.exportDataset": (value) => Pipeline.exportDataset(value),
  "Pipeline.layer": (value) => Pipeline.layer(value),
  "Pipeline.CronJob.parse": (value) => Effect.fromResult(Pipeline.CronJob.parse(value)),
  "Job.layer": Job.layer,
  "Job.layerReadonly": Job.layerReadonly,
  "Job.status": Job.status,
  "Job.check": (value) => Job.check(value),
  "Job.compact": Job.compact,
  "Job.sendAgain": (value) => Effect.provide(Job.sendAgain(value), ledger()),
  "Job.giveUp": (value) => Effect.provide(Job.giveUp(value), ledger()),
  "Tasks.submit": (value) => Effect.provide(Tasks.submit(value), ledger()),
  "Worker.run": (value) => Worker.run(value),
  "AnnotationService.Expert.parse": (value) => AnnotationService.Expert.parse(value),
  "AnnotationService.Expert.gold": (value) => AnnotationService.Expert.gold(value),
  "AnnotationService.layerServer": AnnotationService.layerServer,
  "AnnotationService.layerEmbedded": AnnotationService.layerEmbedded,
  "promises.run": (value) => rejection(() => Promises.run(value)),
  "promises.submit": (value) => rejection(() => Promises.submit(value)),
  "promises.collect": (value) => rejection(() => Promises.collect(value)),
  "promises.exportDataset": (value) => rejection(() => Promises.exportDataset(value)),
  "promises.gold": (value) => rejection(() => Promises.gold(value)),
  "promises.read": (value) => Stream.fromAsyncIterable(Promises.read(value), (error) => error),
}

const effectOf = (value: unknown): Effect.Effect<unknown, unknown, never> =>
  (Stream.isStream(value)
    ? Stream.run(value, Sink.drain)
    : Layer.isLayer(value)
      ? Effect.scoped(Layer.build(value))
      : value) as never

describe("a wrong value", () => {
  it.effect.each(Object.entries(calls))("%s", ([name, call]) =>
    Effect.gen(function* () {
      for (const value of wrong) {
        const exit = yield* Effect.exit(Effect.suspend(() => effectOf(call(value as never))))
        assert.isTrue(Exit.isFailure(exit), `${name}(${String(value)}) succeeds`)
        const [reason] = Exit.isFailure(exit) ? exit.cause.reasons : []
        assert.strictEqual(reason?._tag, "Fail", `${name}(${String(value)}): ${JSON.stringify(reason)}`)
        const error = reason?._tag === "Fail" ? reason.error : undefined
        assert.isTrue(Predicate.hasProperty(error, "_tag"), `${name}(${String(value)}): ${String(error)}`)
        const message = String((error as Error).message)
        assert.match(message, /expected|found|no such|has no task/)
        assert.notMatch(message, /TypeError|Cannot read|is not a function|not iterable|--[a-z]/)
      }
    }).pipe(Effect.provide(platform)),
  )
})
