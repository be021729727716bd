/** `prefstream submit` sends new items as tasks, without waiting for results. */
import { Effect } from "effect"
import type { Command } from "effect/cli"
import * as Flow from "../../pipeline/Flow.ts"
import * as Pipeline from "../../pipeline/Pipeline.ts"
import { makeCommand } from "../flags/Definition.ts"
import { annotationPathsOf } from "../flags/AnnotationPath.ts"
import { inputFlags, maxRejects, scratchIn, sourceOf } from "../flags/InputFlags.ts"
import type { Loaded } from "../flags/PipelineFile.ts"
import { isPipelineFile } from "../flags/PipelineName.ts"
import { itemOptionsOf, resubmitOptionsOf, taskFlags } from "../flags/TaskFlags.ts"
import { limitsForPreview } from "../flags/ServiceFlags.ts"
import { toggle } from "../flags/Values.ts"
import { usageError } from "../output/ExitStatus.ts"
import * as Summary from "../output/Summary.ts"
import * as Job from "./Job.ts"

export const submitFlags = {
  ...inputFlags,
  maxRejects: maxRejects("Maximum rejects; above it, exit status 5", {
    default: "stop if the first 100,000 records are rejected",
  }),
  ...taskFlags,
  ...Job.commonFlags,
  dryRun: toggle("dry-run", "Show what would be submitted, without sending or recording it", {
    group: "JOB",
    isTypedOnly: true,
  }),
}

export const pipelineFileOf = Effect.fnUntraced(function* (files: ReadonlyArray<string>) {
  const program = files.find(isPipelineFile)
  if (program === undefined || files.length === 1) return program
  return yield* usageError(`${program} is a pipeline file, which has its own input: leave out the other file names`)
})

export const settingsOf = <P extends Omit<Pipeline.Settings, "directory">>(
  job: Effect.Success<ReturnType<typeof Job.prepare<Command.Command.Config.Infer<typeof submitFlags>>>>,
  pipeline: P,
) => ({
  ...pipeline,
  ...resubmitOptionsOf(job.flags, pipeline),
  annotationPaths: annotationPathsOf(job.flags) ?? pipeline.annotationPaths,
  price: job.flags.price ?? pipeline.price,
  budget: job.flags.budget ?? pipeline.budget,
  ...Job.timeLimitsOf(job),
  directory: job.place.directory,
  maxRejects: job.flags.maxRejects ?? pipeline.maxRejects,
})

export const command = makeCommand(
  "submit",
  "Read items, and submit the new ones without waiting for results. While workers process the job, this command only reads items; the workers send them.",
  submitFlags,
  Effect.fn("prefstream submit")(function* (commandFlags) {
    const job = yield* Job.prepare(commandFlags, yield* pipelineFileOf(commandFlags.files))
    const { flags, place } = job
    const pipeline: Omit<Loaded, "directory" | "service"> & { readonly service: Loaded["service"] | undefined } =
      job.pipeline ?? {
        ...(yield* itemOptionsOf(flags)),
        source: yield* sourceOf(flags, scratchIn(flags, place.directory)),
        service: undefined,
      }
    const service = yield* Job.checkedService(job, pipeline.service)
    if (flags.dryRun)
      return yield* Job.preview(job, { ...settingsOf(job, pipeline), ...(yield* limitsForPreview(flags)) })
    yield* Job.announceInput(pipeline.source, place)
    const settings = settingsOf(job, pipeline)
    yield* Job.runAndReport(job, service, Job.savingSettings(Flow.submit(settings), place), {
      newLedger: settings.newLedger,
      finish: Summary.finishSubmit,
      layer: Pipeline.layerAlongsideWorkers,
    })
  }, Job.withJobFlags),
  {
    "PREFSTREAM_BASE_URL=https://host/v1 PREFSTREAM_TOKEN=... prefstream submit items.jsonl --dir week-48":
      "Submit the items of a week",
  },
)
