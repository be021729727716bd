/** `prefstream worker` processes a job together with other workers, on one machine or several. */
import { Console, Duration, Effect, identity, Struct } from "effect"
import { Flag } from "effect/cli"
import * as Pipeline from "../../pipeline/Pipeline.ts"
import * as Worker from "../../pipeline/Worker.ts"
import * as Stop from "../../pipeline/Stop.ts"
import { defaultPartCount } from "../../task/ledger/schema/Jobs.ts"
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
  files: filesArgument("URLs (https, s3, gs, hf)"),
  dir: dirFlag("Job folder of this worker, for rejects"),
  ledger: text("ledger", "URL", "Ledger that the workers share (required): postgres://user@host/database", {
    group: "JOB",
    isEssential: true,
    isKept: true,
    path: "whole",
    environment: "PREFSTREAM_LEDGER",
  }),
  job: submitFlags.job.pipe(Flag.map(identity), define({ isEssential: true })),
  address: address("address", "[HOST:]PORT", "Address for other workers", {
    default: "local address of the database connection, with any free port",
  }),
  parts: integer("parts", "Number of parts to divide a new job into, at least 8 per worker; cannot be changed", {
    min: 1,
    max: 4096,
    default: defaultPartCount,
  }),
  lease: duration("lease", "Time after which other workers take over the tasks of a silent worker, at least 5s", {
    default: formatDuration(Worker.defaultLease),
  }),
}

export const command = makeCommand(
  "worker",
  "Process a job together with other workers that share a PostgreSQL ledger. Start every worker with the same input and flags. " +
    "Each worker sends and polls the tasks of its parts of the job; one worker also reads the input. " +
    "If a worker is lost, others take over its parts. A worker runs until you stop it. When all tasks are done, prefstream status exits with 0; then write the dataset with prefstream export.",
  workerFlags,
  Effect.fn("prefstream worker")(function* (commandFlags) {
    const job = yield* Job.prepare({ ...commandFlags, ...unused }, yield* pipelineFileOf(commandFlags.files))
    const { flags, place } = job
    if (flags.files.includes("-")) {
      return yield* ExitStatus.usageError(
        "worker: input cannot come from stdin, because every worker reads the same input. Use files or URLs instead",
      )
    }
    const { location } = place
    if (location._tag === "File") {
      return yield* ExitStatus.usageError(
        "worker: expected a PostgreSQL ledger, which several machines can reach: set --ledger postgres://user@host/database",
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
      service,
      webhook: yield* webhookOf(flags, job.pipeline?.webhook),
    }
    const newLedger = yield* Settings.mayBeNew(settings.newLedger, place.directory)
    yield* Worker.run(Pipeline.make({ ...settings, newLedger }), {
      address: flags.address,
      lease: flags.lease,
      parts: flags.parts,
      onBegin: (name) =>
        Console.error(
          `Worker ${name} of job ${location.job} uses the ledger ${place.ledger}, and runs until it is stopped`,
        ),
      onStalled: ({ message }) =>
        Effect.andThen(
          say(message),
          Effect.sync(() => process.exit(ExitStatus.failure)),
        ),
    }).pipe(
      monitored(flags.monitor),
      Stop.withOptions({ isNormalEnd: true, grace: flags.grace ?? Duration.seconds(65) }),
    )
  }),
  {
    "prefstream worker items.jsonl --ledger postgres://me@db/prefs --job week-48 --address 10.0.0.5:4100":
      "Start a worker that the others reach at 10.0.0.5:4100",
  },
)
