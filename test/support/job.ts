import { cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { afterAll, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, type Scope } from "effect"
import { ServiceProfile } from "../../src/api/ServiceProfile.ts"
import { AnnotationClient } from "../../src/task/client/AnnotationClient.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { effectTest } from "./effectTest.ts"

/** What a real process has: files, and an HTTP client over real sockets. */
export const platform = Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici)

/** A ledger in a file, and a client of the given service. */
export const job = (directory: string, profile: Layer.Layer<ServiceProfile>) =>
  Layer.mergeAll(Ledger.layerFile(`${directory}/ledger.db`), AnnotationClient.layer).pipe(Layer.provideMerge(profile))

/** The service as one that does not declare `votes`: each vote has a task of its own, which the same expert may judge. */
export const withoutVotes = <E, R>(service: Layer.Layer<ServiceProfile, E, R>) =>
  Layer.effect(
    ServiceProfile,
    Effect.map(ServiceProfile, (profile) => ({ ...profile, taskMembers: { group: true, maxVotes: 0 } })),
  ).pipe(Layer.provide(service))

export const temporaryDirectory = FileSystem.FileSystem.use((fs) =>
  fs.makeTempDirectoryScoped({ prefix: "prefstream-test-" }),
)

/** A folder for each test, with what is made once for all tests of a file. Call it outside of tests. */
export const copiesOf = (
  fill: (directory: string) => Effect.Effect<void, unknown, Scope.Scope | Layer.Success<typeof platform>>,
) => {
  let made: Promise<string> | undefined
  const make = async () => {
    const directory = await mkdtemp(join(tmpdir(), "prefstream-test-"))
    await Effect.runPromise(Effect.provide(Effect.scoped(fill(directory)), platform))
    return directory
  }
  afterAll(async () => {
    if (made !== undefined) await rm(await made, { recursive: true })
  })
  return Effect.gen(function* () {
    const original = yield* Effect.promise(() => (made ??= make()))
    const directory = yield* temporaryDirectory
    yield* Effect.promise(() => cp(original, directory, { recursive: true }))
    return directory
  })
}

/** Runs an effect as one process would: over the job's ledger, which is closed at the end. */
export const inProcess =
  (directory: string, profile: Layer.Layer<ServiceProfile>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(effect, job(directory, profile))

type Services = Scope.Scope | Layer.Success<typeof platform>

/** A test with real time, real files and real sockets: an effect, or the generator of one. */
export const test = (
  name: string,
  body: () => Effect.Effect<void, unknown, Services> | Effect.fn.Return<void, unknown, Services>,
  /** In milliseconds. Default: the suite's own. */
  timeout?: number,
) =>
  it.live(
    name,
    () => {
      const made = body()
      return Effect.provide(Effect.scoped(Effect.isEffect(made) ? made : Effect.gen(() => made)), platform)
    },
    timeout,
  )

/** A test at the time of the test's clock. */
export const clockTest = effectTest<Scope.Scope>(it.effect)
