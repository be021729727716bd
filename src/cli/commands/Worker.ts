/** `prefstream worker`: one of several processes, on one machine or many, that work a job together. */
import { Console, Duration, Effect, Struct } from "effect"
import { Command } from "effect/cli"
import * as Worker from "../../pipeline/Worker.ts"
import * as Stop from "../../pipeline/Stop.ts"
import { defaultPartCount } from "../../task/ledger/Jobs.ts"
import * as PublishedLimits from "../../task/client/PublishedLimits.ts"
import { sourceOf } from "../flags/InputFlags.ts"
import { itemOptionsOf } from "../flags/TaskFlags.ts"
import { monitored } from "../flags/MonitorFlag.ts"
import { address, duration, formatDuration, integer, option } from "../flags/Values.ts"
import { webhookFlags, webhookOf } from "../flags/WebhookFlags.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { say } from "../output/Text.ts"
import * as Job from "./Job.ts"
import { pipelineFileOf, settingsOf, submitFlags } from "./Submit.ts"

/** A worker waits for the service, but for no end, and has none to report. What is to be sent again is asked of `submit`. */
const unused = {
  dryRun: undefined,
  resubmit: [],
  maxAttempts: undefined,
  json: undefined,
  lockWait: undefined,
  patience: undefined,
  quiet: undefined,
  timeout: undefined,
  waitingOk: undefined,
}

const workerFlags = {
  ...Struct.omit(submitFlags, Struct.keys(unused)),
  ...webhookFlags,
  address: address(
    "address",
    "[HOST:]PORT",
    "Where other workers reach this one (default: the address towards the database, a free port)",
  ),
  parts: option(
    integer("parts", { min: 1, max: 4096 }),
    "N",
    `Parts of a new job, which it keeps: 8 or more for each worker that it may get (default: ${defaultPartCount})`,
  ),
  lease: duration(
    "lease",
    `Maximum silence of a worker, 5s or more, before others take its parts (default: ${formatDuration(Worker.defaultLease)})`,
  ),
}

export const workerCommand = Command.make(
  "worker",
  workerFlags,
  Effect.fn("prefstream worker")(function* (given) {
    const job = yield* Job.begin({ ...given, ...unused }, yield* pipelineFileOf(given.files))
    const { flags, place } = job
    const { location } = place
    if (location._tag === "File") {
      return yield* new ExitStatus.UsageError({
        message: "worker: expected a ledger that several machines reach: --ledger postgres://user@host/database",
      })
    }
    const pipeline = job.pipeline ?? {
      ...(yield* itemOptionsOf(flags)),
      source: yield* sourceOf(flags, place.directory),
    }
    const service = yield* Job.ready(job, job.pipeline?.service)
    const settings = {
      ...settingsOf(job, pipeline),
      ledger: location,
      service: PublishedLimits.layer(service),
      webhook: yield* webhookOf(flags, job.pipeline?.webhook),
    }
    yield* Worker.run(settings, {
      address: flags.address,
      lease: flags.lease,
      parts: flags.parts,
      onBegin: (name) =>
        Console.error(`Worker ${name} of job ${location.job}, over ${place.ledger}; it works until it is stopped`),
      onStalled: ({ message }) =>
        Effect.andThen(
          say(message),
          Effect.sync(() => process.exit(ExitStatus.failure)),
        ),
    }).pipe(monitored(flags.monitor), Stop.withTerms({ isNormalEnd: true, grace: flags.grace ?? Duration.seconds(65) }))
  }),
).pipe(
  Command.withDescription(
    "Work a job together with other workers, over one ledger in PostgreSQL: each is given the same input and flags. " +
      "One of them reads the input; all send and poll, each the parts that it was placed on. " +
      "When one is lost, the others take its parts. It works until it is stopped; status says when all is done, and export writes the dataset.",
  ),
  Command.withExamples([
    {
      command: "prefstream worker items.jsonl --ledger postgres://me@db/prefs --job week-48 --address 10.0.0.5:4100",
      description: "One of the workers of a job, which the others reach at this address",
    },
  ]),
)
