/**
 * Public functions that plain JavaScript calls with wrong values: each fails with a typed error, whose message names what
 * was expected. Pure functions of a judgment or an item are not tested: their only argument is the library's own value.
 */
import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { Cause, Effect, Exit, FileSystem, Layer, Logger, Predicate, Redacted, Sink, Stream } from "effect"
import * as AnnotationService from "prefstream/service"
import * as Dataset from "prefstream/dataset"
import * as Job from "prefstream/job"
import * as Pairs from "prefstream/pairs"
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

const neverRight: ReadonlyArray<unknown> = [null, 5, Number.NaN, true, {}, [null], [5], () => 5, Symbol("s"), 10n]

/** Neither a text, nor a list of texts, nor an object with the members that a function needs. */
const wrong: ReadonlyArray<unknown> = [undefined, -1, ...neverRight]

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
  "Pipeline.diff": (value) => Pipeline.diff(value, value),
  "Pipeline.evaluate": (value) => Pipeline.evaluate(value, { scores: "scores.jsonl" }),
  "Pipeline.evaluate, options": (value) => Pipeline.evaluate("dataset", value),
  "Pipeline.importVotes": (value) => Effect.provide(Pipeline.importVotes(value), ledger()),
  "Pipeline.layerImport": Pipeline.layerImport,
  "Pipeline.votePlan": (value) => Pipeline.votePlan(value),
  "Pipeline.leaderboards": (value) => Effect.provide(Pipeline.leaderboards(value ?? null, {}), ledger()),
  "Pipeline.datasetLeaderboards": (value) => Pipeline.datasetLeaderboards(value, undefined, {}),
  "Pipeline.Inspection.inspect": (value) => Pipeline.Inspection.inspect(value),
  "Pipeline.layer": (value) => Pipeline.layer(value),
  "Pipeline.CronJob.parse": (value) => Effect.fromResult(Pipeline.CronJob.parse(value)),
  "Job.layer": Job.layer,
  "Job.layerReadonly": Job.layerReadonly,
  "Job.status": Job.status,
  "Job.check": (value) => Job.check(value),
  "Job.compact": Job.compact,
  "Job.sendAgain": (value) => Effect.provide(Job.sendAgain(value), ledger()),
  "Job.giveUp": (value) => Effect.provide(Job.giveUp(value), ledger()),
  "Job.adopt": (value) => Effect.provide(Job.adopt(1, value), ledger()),
  "Job.adopt, task": (value) => Effect.provide(Job.adopt(value, "id"), ledger()),
  "Job.backup": (value) => Job.backup({ directory: "job" }, value),
  "Tasks.importVotes": (value) => Effect.provide(Tasks.importVotes(value), ledger()),
  "Tasks.judgments": (value) => Stream.provide(Tasks.judgments(value ?? null), ledger()),
  "Tasks.judgedItems": (value) => Stream.provide(Tasks.judgedItems(value ?? null), ledger()),
  "Pairs.audit": (value) => Pairs.audit(value),
  "Pairs.leaderboard": (value) => Pairs.leaderboard(value),
  "Pairs.reliabilities": (value) => Pairs.reliabilities(value),
  "Pairs.Splits.make": (value) => Effect.scoped(Pairs.Splits.make(value)),
  "Tasks.submit": (value) => Effect.provide(Tasks.submit(value), ledger()),
  "Worker.run": (value) => Worker.run(value),
  "Tasks.ServiceProfile.layer": (value) => Tasks.ServiceProfile.layer(value),
  "AnnotationService.Expert.judge": AnnotationService.Expert.judge,
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

/** The first problem of a call that may not end with a defect, or not with another message. */
const problemOf = (call: () => unknown, expected = /(?:)/) =>
  Effect.map(Effect.exit(Effect.suspend(() => effectOf(call()))), (exit) => {
    const [reason] = Exit.isFailure(exit) ? exit.cause.reasons : []
    if (reason?._tag !== "Fail") return reason === undefined ? undefined : Cause.pretty(Cause.fromReasons([reason]))
    const { error } = reason
    const isTyped = Predicate.hasProperty(error, "_tag") && Predicate.hasProperty(error, "message")
    const message = isTyped ? String(error.message) : "TypeError"
    return isUntyped.test(message) || !expected.test(message) ? String(error) : undefined
  })

const isUntyped = /TypeError|Cannot read|is not a function|not iterable|--[a-z]/

const items = [{ prompt: "p", completions: ["a", "bb"] }]
const inTemporary = (call: (directory: string) => unknown) =>
  Effect.scoped(
    FileSystem.FileSystem.use((fs) =>
      Effect.flatMap(fs.makeTempDirectoryScoped(), (directory) => effectOf(call(directory))),
    ),
  )
const embedded = (directory: string, options: object = {}) =>
  AnnotationService.layerEmbedded({ database: `${directory}/s.db`, experts: ["longest"], ...options })
const judged = Stream.fromIterable<Pairs.JudgedItem>([])

/** Functions, and the names of the options that get wrong values, one at a time. No text in the place of an option is right. */
const withOptions: { readonly [name: string]: readonly [call: (options: never) => unknown, names: string] } = {
  "Source.files": [
    (options: object) => Source.files("/dev/null", options).records,
    "format encoding delimiter quote header maxLineBytes maxRowGroupBytes idleTimeout layout id prompt system history completions completion key model modelsFromColumns gold metadata keep ignore missing scratchDirectory",
  ],
  "Source.votes": [
    (options: object) => Source.votes("/dev/null", options).records,
    "format prompt completions keep votes scratchDirectory",
  ],
  "Source.votes, votes": [
    (votes: object) => Source.votes("/dev/null", { votes }).records,
    "choice votes expert rationale strength judgedAt choiceAs choiceMap",
  ],
  "Source.join": [
    (options: object) => Source.join({ prompts: "/dev/null", completions: ["/dev/null"], ...options }).records,
    "prompts completions key promptKey completionKey promptPath systemPath historyPath completionPath metadataPath keep ignore goldPath modelPath modelsPath missing scratchDirectory encoding",
  ],
  "Source.make": [
    (options: object) => Source.make(items, options).records,
    "name layout id prompt completions model gold metadata keep ignore missing scratchDirectory",
  ],
  "Source.gold": [(options: object) => Source.gold("/dev/null", options), "ignore"],
  "Dataset.write": [
    (options: object) =>
      inTemporary((directory) => Stream.run(Stream.empty, Dataset.write({ directory: `${directory}/d`, ...options }))),
    "splitOf conversational tools formats margin marginFrom edited shardBytes facts allowEmpty",
  ],
  "Dataset.read": [(options: object) => Dataset.read("dataset", options), "split"],
  "Dataset.verify": [(options: object) => Dataset.verify("dataset", options), "formats"],
  "Dataset.diff": [(options: object) => Dataset.diff("a", "b", options), "show ignore taskIds scratchDirectory"],
  "Dataset.push": [
    (options: object) => Dataset.push("dataset", { repository: "a/b", token: Redacted.make("hf_a"), ...options }),
    "repository token branch public expertNames endpoint requestTimeout",
  ],
  "Pipeline.run": [
    (options: object) =>
      inTemporary((directory) =>
        Pipeline.run(
          Pipeline.make({ directory, source: Source.make(items), service: embedded(directory), ...options }),
        ),
      ),
    "source service client ledger job timeout grace once webhook newLedger guidelines taskType votes votesUpTo confidence peopleWhen group price budget shuffleSeed completionsPerItem completionsSeed keepReordered batch maxPlanned gold newCampaign resubmit maxAttempts maxRejects pairs aggregate ties minVotes minAgreement drop thresholds checks splits splitSeed splitBy evaluationPrompts conversational margin marginFrom edited expertNames annotationPaths formats allowEmpty card",
  ],
  "Pipeline.run, gold": [
    (gold: object) =>
      inTemporary((directory) =>
        Pipeline.run(
          Pipeline.make({
            directory,
            source: Source.make(items),
            service: embedded(directory),
            gold: { items: [], ...gold },
          }),
        ),
      ),
    "items rate seed",
  ],
  "Pipeline.collect": [
    (options: object) =>
      inTemporary((directory) =>
        Pipeline.collect(
          Pipeline.make({ directory, source: Source.make(items), service: embedded(directory) }),
          options,
        ),
      ),
    "recheckCompleted",
  ],
  "Pipeline.exportDataset": [
    (options: object) =>
      Pipeline.exportDataset(
        Pipeline.make({ directory: "none", source: Source.make(items), service: embedded("none") }),
        options,
      ),
    "campaign force",
  ],
  "Pipeline.votePlan": [
    (options: object) => Pipeline.votePlan({ source: Source.make(items), experts: 0.9, ...options }),
    "source experts price targetAccuracy completionsPerItem completionsSeed keepReordered",
  ],
  "Pipeline.Inspection.inspect": [
    (options: object) => Pipeline.Inspection.inspect(Source.make(items), options),
    "batch keepReordered limits votes maxTaskVotes votesLeft show readAll onReject",
  ],
  "Pipeline.evaluate": [
    (options: object) => Pipeline.evaluate("none", { scores: "none", ...options }),
    "scores split by disputed disagreements",
  ],
  "Pipeline.importVotes": [
    (options: object) =>
      inTemporary((directory) =>
        Effect.provide(
          Pipeline.importVotes({ directory, votes: Source.votes("/dev/null"), ...options }),
          Pipeline.layerImport({ directory }),
        ),
      ),
    "votes guidelines taskType newCampaign maxRejects",
  ],
  "Pipeline.audit": [
    (options: object) => Effect.provide(Pipeline.audit(options), ledger()),
    "judges by price within resamples seed campaign annotationPaths",
  ],
  "Pipeline.leaderboard": [
    (options: object) => Effect.provide(Pipeline.leaderboard(options), ledger()),
    "ties controls prior resamples seed weighted campaign annotationPaths",
  ],
  "Pipeline.pilot": [
    (options: object) => Effect.provide(Pipeline.pilot(options), ledger()),
    "campaign annotationPaths",
  ],
  "Pairs.audit": [(options: object) => Pairs.audit(judged, options), "judges by price within resamples seed"],
  "Pairs.leaderboard": [
    (options: object) => Pairs.leaderboard(judged, options),
    "ties controls prior resamples seed weighted",
  ],
  "Pairs.reliabilities": [(options: object) => Pairs.reliabilities(judged, options), "jury"],
  "Pairs.Curation.make": [
    (options: object) => Effect.scoped(Pairs.Curation.make(options)),
    "pairs minVotes minAgreement ties drop thresholds checks evaluationPrompts",
  ],
  "Pairs.Curation.make, context": [
    (options: object) => Effect.scoped(Pairs.Curation.make({}, options)),
    "reliabilities languageOf languageShare mayRepeat scratchDirectory",
  ],
  "Pairs.Splits.make": [
    (options: object) => Effect.scoped(Pairs.Splits.make({ shares: { train: 1 }, ...options })),
    "shares seed threshold scratchDirectory",
  ],
  "Tasks.submit": [
    (options: object) => Effect.provide(Tasks.submit(Stream.empty, { votes: -1, ...options }), ledger()),
    "batch gold group peopleWhen price budget resubmit guidelines maxRejects",
  ],
  "Tasks.collect": [(options: object) => Effect.provide(Tasks.collect(options), ledger()), "once recheckCompleted"],
  "Job.votes": [
    (options: object) => Stream.provide(Job.votes(options), ledger()),
    "campaign annotationPaths pseudonyms",
  ],
  "Job.voteTable": [
    (options: object) => Stream.provide(Job.voteTable("csv", options), ledger()),
    "campaign annotationPaths pseudonyms isRaw",
  ],
  "Job.status": [(options: object) => Job.status({ directory: "none", ...options }), "ledger job newLedger"],
  "Job.check": [(options: object) => Job.check({ directory: "none" }, options), "quick"],
  "Job.prune": [(options: never) => Job.prune({ directory: "none" }, options), "before results dryRun"],
  "AnnotationService.layerEmbedded": [
    (options: object) => Effect.scoped(Layer.build(embedded("/dev/null", options))),
    "experts judge turnaround limits votes hold undoGrace gold cancelUnanswered allowRepeatedVotes token rateLimit requestTimeout pages publicUrl imageHosts allowPrivateWebhooks",
  ],
  "AnnotationService.Expert.judge": [
    (options: object) => AnnotationService.Expert.judge({ baseUrl: "http://127.0.0.1:1/v1", model: "m", ...options }),
    "baseUrl apiKey model body concurrency timeout retries template onDisagreement attempts price",
  ],
  "promises.run": [
    (options: object) =>
      rejection(() =>
        Promises.run({ directory: "/dev/null/x", source: "none", service: { experts: ["longest"] }, ...options }),
      ),
    "directory source input service batch",
  ],
  "promises.run, service": [
    (service: object) =>
      rejection(() =>
        Promises.run({
          directory: "/dev/null/x",
          source: "none",
          service: { baseUrl: "http://127.0.0.1:1/v1", token: "t", ...service },
        }),
      ),
    "baseUrl token authorization identity moved idempotencyKey taskMembers idempotencyKeyLifetime createRequest pollRequest requestExtra resultPaths choice kindPath completedStatuses failedStatuses openStatuses concurrency requestsPerSecond requestTimeout maxAnswerBytes retries downAfter patience pollInterval webhook maxCompletions",
  ],
  "promises.gold": [(options: object) => rejection(() => Promises.gold("/dev/null", options)), "signal log"],
}

const wrongMembers: ReadonlyArray<unknown> = ["/dev/null/x", ...neverRight]

describe("a wrong option", () => {
  it.live.each(Object.entries(withOptions))(
    "%s",
    ([, [call, names]]) =>
      Effect.gen(function* () {
        const problems: Array<string> = []
        const cases = names.split(" ").flatMap((name) => wrongMembers.map((value) => ({ [name]: value })))
        for (const options of [null, 5, "x", [null], ...cases]) {
          const problem = yield* problemOf(() => call(options as never))
          if (problem !== undefined) problems.push(`${inspect(options)}: ${problem}`)
        }
        assert.deepStrictEqual(problems, [])
      }).pipe(Effect.provide(Layer.merge(platform, Logger.layer([])))),
    60_000,
  )
})

describe("a wrong value", () => {
  it.effect.each(Object.entries(calls))("%s", ([name, call]) =>
    Effect.gen(function* () {
      for (const value of wrong) {
        const failing = () => Effect.andThen(effectOf(call(value as never)), Effect.die("it succeeds"))
        const problem = yield* problemOf(failing, /expected|found|no such|has no/)
        assert.isUndefined(problem, `${name}(${String(value)})`)
      }
    }).pipe(Effect.provide(platform)),
  )
})

describe("the program's own code", () => {
  const broken = () => {
    throw new TypeError("undefined has no length")
  }
  const measure = { name: "long", measure: "share of long items", valueOf: broken }

  const cases: ReadonlyArray<readonly [name: string, settings: object, message: RegExp]> = [
    ["a pair strategy that returns no list", { pairs: () => 5 }, /^pairs .*expected .*list of pairs, found 5/],
    ["a check that throws", { checks: [measure] }, /the check "long" failed for item .*undefined has no length/],
  ]

  it.live.each(cases)("%s is a typed error that names it", ([, settings, expected]) =>
    inTemporary((directory) => {
      const source = Source.make(items)
      const service = embedded(directory)
      return Effect.flip(Pipeline.run(Pipeline.make({ directory, source, service, ...settings })))
    }).pipe(
      Effect.tap((error) => Effect.sync(() => assert.match(String((error as Error).message), expected))),
      Effect.provide(Layer.merge(platform, Logger.layer([]))),
    ),
  )
})
