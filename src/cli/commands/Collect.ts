/** `prefstream collect` waits for the results of tasks that `submit` sent, on another day or in another process. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as Pipeline from "../../pipeline/Pipeline.ts"
import * as PublishedLimits from "../../task/client/PublishedLimits.ts"
import { makeCommand } from "../flags/Definition.ts"
import { annotationPathsOf } from "../flags/AnnotationPath.ts"
import { once, recheckCompleted } from "../flags/JobFlags.ts"
import { existingLedger } from "../flags/LedgerFlags.ts"
import { pipelineArgument } from "../flags/PipelineFile.ts"
import { webhookFlags, webhookOf } from "../flags/WebhookFlags.ts"
import * as Job from "./Job.ts"

export const collectCommand = makeCommand(
  "collect",
  { once, recheckCompleted, pipeline: pipelineArgument, ...webhookFlags, ...Job.commonFlags },
  Effect.fn("prefstream collect")(function* (given) {
    const job = yield* Job.prepare(given, given.pipeline)
    const { flags, pipeline, place } = job
    const once = flags.once ?? pipeline?.once === true
    const webhook = yield* webhookOf(flags, once ? undefined : pipeline?.webhook)
    const service = yield* Job.checkedService(job, pipeline?.service)
    // With a misspelled folder, a new ledger without tasks would look like a finished job. So the ledger must exist.
    if (pipeline !== undefined || flags.baseUrl !== undefined) {
      yield* Effect.provide(Effect.void, existingLedger(place.location))
    }
    yield* Job.runAndReport(
      job,
      PublishedLimits.layer(service),
      Pipeline.collect({
        ...Job.limitsOf(job),
        once,
        recheckCompleted: flags.recheckCompleted,
        webhook,
        annotationPaths: annotationPathsOf(flags) ?? pipeline?.annotationPaths,
      }),
    )
  }, Job.withJobFlags),
).pipe(
  Command.withDescription(
    "Wait for the results of submitted tasks, and record them in the ledger. The exit status is 3 while some are missing, or items need further votes (--votes N..M of submit), which the next submit plans.",
  ),
  Command.withExamples([
    { command: "prefstream collect --dir week-48", description: "Wait until all results are there" },
    { command: "prefstream collect --dir week-48 --once", description: "In a cron line: record the results so far" },
    {
      command: "prefstream collect --dir week-48 --once --recheck-completed",
      description: "Also record results that leads changed after they were delivered",
    },
    {
      command: "PREFSTREAM_WEBHOOK_SECRET=whsec_... prefstream collect --dir week-48 --listen 8485",
      description: "Wait, and receive the service's webhooks",
    },
  ]),
)
