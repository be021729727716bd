/** `prefstream collect` waits for the results of tasks that an earlier `submit` sent. */
import { Effect } from "effect"
import * as Flow from "../../pipeline/Flow.ts"
import { makeCommand } from "../flags/Definition.ts"
import { annotationPathsOf } from "../flags/AnnotationPath.ts"
import { once, recheckCompleted } from "../flags/JobFlags.ts"
import { existingLedger } from "../flags/LedgerFlags.ts"
import { pipelineArgument } from "../flags/PipelineFile.ts"
import { webhookFlags, webhookOf } from "../flags/WebhookFlags.ts"
import * as Job from "./Job.ts"

export const command = makeCommand(
  "collect",
  "Wait for the results of submitted tasks, and record them in the ledger. Exits with 3 while results are missing. After prefstream submit --votes N..M, also exits with 3 while items need further votes. To plan these votes, run prefstream submit again.",
  { once, recheckCompleted, pipeline: pipelineArgument, ...webhookFlags, ...Job.commonFlags },
  Effect.fn("prefstream collect")(function* (commandFlags) {
    const job = yield* Job.prepare(commandFlags, commandFlags.pipeline)
    const { flags, pipeline, place } = job
    const once = flags.once ?? pipeline?.once === true
    const webhook = yield* webhookOf(flags, once ? undefined : pipeline?.webhook)
    const service = yield* Job.checkedService(job, pipeline?.service)
    // Without this check, a misspelled `--dir` would create an empty ledger, which looks like a finished job.
    if (pipeline !== undefined || flags.baseUrl !== undefined) {
      yield* Effect.provide(Effect.void, existingLedger(place.location))
    }
    yield* Job.runAndReport(
      job,
      service,
      Flow.collect({
        ...Job.timeLimitsOf(job),
        once,
        recheckCompleted: flags.recheckCompleted,
        webhook,
        annotationPaths: annotationPathsOf(flags) ?? pipeline?.annotationPaths,
      }),
    )
  }, Job.withJobFlags),
  {
    "prefstream collect --dir week-48": "Poll the service until all results have arrived",
    "prefstream collect --dir week-48 --once": "From cron: record the results so far",
    "prefstream collect --dir week-48 --once --recheck-completed": "Also record results that changed after delivery",
    "PREFSTREAM_WEBHOOK_SECRET=whsec_... prefstream collect --dir week-48 --listen 8485":
      "Poll the service, and also receive its webhooks, until all results have arrived",
  },
)
