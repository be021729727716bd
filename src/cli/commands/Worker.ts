/** `prefstream worker` processes a job together with other workers, on one machine or several. */
import { Console, Duration, Effect, identity, Struct } from "effect"
import { Flag } from "effect/cli"
import * as Worker from "../../pipeline/Worker.ts"
import * as Stop from "../../pipeline/Stop.ts"
import { defaultPartCount } from "../../task/ledger/schema/Jobs.ts"
import * as PublishedLimits from "../../task/client/PublishedLimits.ts"
import { define, makeCommand } from "../flags/Definition.ts"
import { filesArgument, sourceOf } from "../flags/InputFlags.ts"
import { dirFlag } from "../flags/LedgerFlags.ts"
import { itemOptionsOf } from "../flags/TaskFlags.ts"
import { monitored } from "../flags/MonitorFlag.ts"
import { address, duration, formatDuration, integer, text } from "../flags/Values.ts"
import { webhookFlags, webhookOf } from "../flags/WebhookFlags.ts"
import * as Settings from "../settings/Settings.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { say } from "../output/Text.ts"
import * as Job from "./Job.ts"
import { pipelineFileOf, settingsOf, submitFlags } from "./Submit.ts"

/** Flags that a worker lacks: it runs until it is stopped, waits for the service without a limit, and has no report. */
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
  files: filesArgument("https:// and s3:// URLs"),
  dir: dirFlag("Job folder of this worker, for rejects"),
  ledger: text("ledger", "URL", "Ledger of all workers, required: postgres://user@host/database", {
    group: "JOB",
    isEssential: true,
    isKept: true,
    path: "whole",
    environment: "PREFSTREAM_LEDGER",
  }),
  job: submitFlags.job.pipe(Flag.map(identity), define({ isEssential: true })),
  address: address("address", "[HOST:]PORT", "Where other workers reach this one", {
    default: "the address that the database sees, a free port",
  }),
  parts: integer("parts", "Number of parts of a new job, fixed afterwards; at least 8 per expected worker", {
    min: 1,
    max: 4096,
    default: defaultPartCount,
  }),
  lease: duration("lease", "Maximum silence of a worker, 5s or more, before others take its parts", {
    default: formatDuration(Worker.defaultLease),
  }),
}

export const command = makeCommand(
  "worker",
  "Process a job together with other workers that share a PostgreSQL ledger. Give all of them the same input and flags. " +
    "Each worker sends and polls the tasks of its parts; one of them also reads the input. " +
    "If a worker is lost, others take over its parts. A worker runs until it is stopped: status exits with 0 when all is done, and export writes the dataset.",
  workerFlags,
  Effect.fn("prefstream worker")(function* (given) {
    const job = yield* Job.prepare({ ...given, ...unused }, yield* pipelineFileOf(given.files))
    const { flags, place } = job
    if (flags.files.includes("-")) {
      return yield* ExitStatus.usageError(
        "worker: each worker needs the same input, so it cannot come from stdin: expected files or URLs",
      )
    }
    const { location } = place
    if (location._tag === "File") {
      return yield* ExitStatus.usageError(
        "worker: expected a ledger that several machines reach: --ledger postgres://user@host/database",
      )
    }
    const pipeline = job.pipeline ?? {
      ...(yield* itemOptionsOf(flags)),
      source: yield* sourceOf(flags, place.directory),
    }
    const service = yield* Job.checkedService(job, job.pipeline?.service)
    const settings = {
      ...settingsOf(job, pipeline),
      ledger: location,
      service: PublishedLimits.layer(service),
      webhook: yield* webhookOf(flags, job.pipeline?.webhook),
    }
    const newLedger = yield* Settings.mayBeNew(settings.newLedger, place.directory)
    yield* Worker.run(
      { ...settings, newLedger },
      {
        address: flags.address,
        lease: flags.lease,
        parts: flags.parts,
        onBegin: (name) =>
          Console.error(`Worker ${name} of job ${location.job}, over ${place.ledger}; it runs until it is stopped`),
        onStalled: ({ message }) =>
          Effect.andThen(
            say(message),
            Effect.sync(() => process.exit(ExitStatus.failure)),
          ),
      },
    ).pipe(
      monitored(flags.monitor),
      Stop.withOptions({ isNormalEnd: true, grace: flags.grace ?? Duration.seconds(65) }),
    )
  }),
  {
    "prefstream worker items.jsonl --ledger postgres://me@db/prefs --job week-48 --address 10.0.0.5:4100":
      "One of the workers of a job, which the others reach at this address",
  },
)
