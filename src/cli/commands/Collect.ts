/**
 * `prefstream collect`: the second half of the flow, on another day or in another process.
 */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as Pipeline from "../../pipeline/Pipeline.ts"
import { UsageError } from "../output/ExitStatus.ts"
import { asJob, graceOf, jobFlags, orInDoubt, waitForOthers, withGrace } from "./Job.ts"
import { existingLedger, ledgerFlags, ledgerOf, placeOf } from "../flags/LedgerFlags.ts"
import { jobOf, pipelineArgument, reported } from "../flags/PipelineFile.ts"
import * as Progress from "../output/Progress.ts"
import * as Settings from "../flags/Settings.ts"
import * as Summary from "../output/Summary.ts"
import { webhookFlags, webhookOf } from "../flags/WebhookFlags.ts"

export const collectCommand = Command.make(
  "collect",
  {
    once: Flag.Boolean("once").pipe(
      Flag.withDescription("Look once at each outstanding task, and leave the rest for later"),
      Flag.optional,
    ),
    pipeline: pipelineArgument,
    ...Settings.service,
    ...webhookFlags,
    ...jobFlags,
    directory: Settings.directory,
    ...ledgerFlags,
    timeout: Settings.timeout,
    json: Settings.json,
  },
  Effect.fn("prefstream collect")(function* (given) {
    const flags = Option.isNone(given.pipeline) ? yield* Settings.fromEnvironment(given) : given
    if (Option.contains(flags.once, true) && Option.isSome(flags.listen)) {
      return yield* new UsageError({ message: "--listen: not together with --once, which does not wait" })
    }
    const { directory, pipeline } = yield* jobOf(flags)
    const ledger = yield* ledgerOf(flags, directory, pipeline)
    const once = Option.getOrElse(flags.once, () => pipeline?.once === true)
    const webhook = yield* webhookOf(flags, once ? undefined : pipeline?.webhook)
    const service = Settings.serviceOf(
      flags,
      pipeline === undefined ? Settings.serviceRequired : reported(pipeline.service),
    )
    yield* Settings.endOfCheck(pipeline === undefined || Option.isSome(flags.baseUrl) ? service : undefined)
    // A misspelt folder is not taken for a job that is done.
    if (pipeline !== undefined || Option.isSome(flags.baseUrl))
      yield* Effect.provide(Effect.void, existingLedger(ledger))
    const grace = graceOf(flags, pipeline)
    const options = { once, timeout: Option.getOrElse(flags.timeout, () => pipeline?.timeout), grace, webhook }
    const place = yield* placeOf(flags, directory, ledger)
    yield* Progress.during(Pipeline.collect(options)).pipe(
      orInDoubt,
      withGrace(grace),
      Effect.provide(Pipeline.layer({ directory, ledger, service })),
      Effect.flatMap((report) => Summary.finish(report, { ...place, json: flags.json })),
      waitForOthers(flags),
    )
  }, asJob),
).pipe(
  Command.withDescription(
    "Wait for the results of tasks that were submitted, and record them in the ledger. Exits with 3 while some are missing.",
  ),
  Command.withShortDescription("Wait for results"),
  Command.withExamples([
    { command: "prefstream collect --dir week-48", description: "Wait until every result is there" },
    { command: "prefstream collect --dir week-48 --once", description: "In a cron line: take what is there" },
    {
      command: "PREFSTREAM_WEBHOOK_SECRET=whsec_... prefstream collect --dir week-48 --listen 8485",
      description: "Wait, and be told by the service's webhooks",
    },
  ]),
)
