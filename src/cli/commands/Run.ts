/**
 * `prefstream run`: the whole flow, from files or from a pipeline file.
 */
import { Console, type Duration, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import * as Pipeline from "../../pipeline/Pipeline.ts"
import * as AnnotationService from "../../service/AnnotationService.ts"
import type { JudgeSettings } from "../../service/expert/JudgeSettings.ts"
import * as PublishedLimits from "../../task/client/PublishedLimits.ts"
import { datasetFlags, datasetOf } from "../flags/DatasetFlags.ts"
import { UsageError } from "../output/ExitStatus.ts"
import { annotationFlags, annotationOf } from "../flags/AnnotationFlags.ts"
import { inputFlags, type InputFlags, rejectFlags, sayFound, sourceOf } from "../flags/InputFlags.ts"
import { asJob, graceOf, jobFlags, orInDoubt, orLimits, waitForOthers, withGrace } from "./Job.ts"
import { judgeOf } from "../flags/JudgeFlags.ts"
import { ledgerFlags, ledgerOf, placeOf } from "../flags/LedgerFlags.ts"
import { fromProgram, isPipelineFile, reported } from "../flags/PipelineFile.ts"
import * as Progress from "../output/Progress.ts"
import * as Settings from "../flags/Settings.ts"
import * as Summary from "../output/Summary.ts"
import { webhookFlags, webhookOf } from "../flags/WebhookFlags.ts"

const flags = {
  ...inputFlags,
  ...rejectFlags,
  ...Settings.task,
  ...annotationFlags,
  ...Settings.service,
  ...webhookFlags,
  ...Settings.embedded,
  ...datasetFlags,
  ...jobFlags,
  once: Flag.Boolean("once").pipe(
    Flag.withDescription(
      "Do not wait: submit what is new, look once at each outstanding task, and write the dataset of the results that are there",
    ),
    Flag.optional,
  ),
  directory: Settings.directory,
  ...ledgerFlags,
  timeout: Settings.timeout,
  json: Settings.json,
}

/** Without `--expert`: a rule that needs no answers, said to be one. */
const trialExpert = "longest"

export const runCommand = Command.make(
  "run",
  flags,
  Effect.fn("prefstream run")(function* (given) {
    const program = given.files.find(isPipelineFile)
    const flags = program === undefined ? yield* Settings.fromEnvironment(given) : given
    if (Option.contains(flags.once, true) && Option.isSome(flags.listen)) {
      return yield* new UsageError({ message: "--listen: not together with --once, which does not wait" })
    }
    const judge = yield* judgeOf(flags)
    const pipeline = program === undefined ? yield* fromFlags(flags, judge) : yield* fromProgram(program, flags)
    const directory = Option.getOrElse(flags.directory, () => pipeline.directory)
    const once = Option.getOrElse(flags.once, () => pipeline.once === true)
    const grace = graceOf(flags, pipeline)
    const settings = {
      ...pipeline,
      grace,
      ...(yield* Settings.againOf(flags, pipeline)),
      directory,
      timeout: Option.getOrElse(flags.timeout, () => pipeline.timeout),
      maxRejects: Option.getOrElse(flags.maxRejects, () => pipeline.maxRejects),
      once,
      ...(yield* datasetOf(flags, pipeline)),
      webhook: yield* webhookOf(flags, once ? undefined : pipeline.webhook),
    }
    const service = Settings.serviceOf(flags, reported(pipeline.service))
    const ledger = yield* ledgerOf(flags, directory, pipeline)
    yield* Settings.endOfCheck(program === undefined && Option.isSome(flags.baseUrl) ? service : undefined)
    yield* Console.error(`Reading ${pipeline.source.description}; the job folder is ${directory}/`)
    yield* sayFound(pipeline.source)
    const place = yield* placeOf(flags, directory, ledger)
    yield* Progress.during(Pipeline.run(settings)).pipe(
      orInDoubt,
      orLimits,
      withGrace(grace),
      Effect.provide(Pipeline.layer({ directory, ledger, service: PublishedLimits.layer(service) })),
      Effect.flatMap((report) =>
        Summary.finish(report, {
          ...place,
          json: flags.json,
          later: "the same command again",
        }),
      ),
      waitForOthers(flags),
    )
  }, asJob),
).pipe(
  Command.withDescription(
    "Run the whole flow: read items, submit them as tasks, wait for the results, write the preference pairs. " +
      "May be broken off at any time and started again with the same job folder. " +
      "Without --base-url an annotation service is started on this machine for the time of the run; " +
      "with --once, --quiet or schedule only where an --expert is named.",
  ),
  Command.withShortDescription("Run the whole flow: items in, preference pairs out"),
  Command.withExamples([
    {
      command: "prefstream run data/sample.jsonl --expert gold:data/sample.jsonl",
      description: "Try it on this machine",
    },
    { command: "prefstream run pipelines/quickstart.ts", description: "Run a pipeline that is written in TypeScript" },
    {
      command:
        "prefstream run prompts.jsonl --completions a.jsonl --completions b.jsonl --key id --completion-path 'choices[0].message.content'",
      description: "Join prompts with the completions of two models",
    },
    {
      command: "PREFSTREAM_BASE_URL=https://host/v1 PREFSTREAM_TOKEN=... prefstream run items.jsonl --timeout 12h",
      description: "Send the tasks to an annotation service, and wait for half a day",
    },
    {
      command: "prefstream run 'items/*.jsonl' --dir job --once --quiet",
      description: "Each night: submit what is new, and take what is there",
    },
  ]),
)

const fromFlags = Effect.fnUntraced(function* (
  flags: InputFlags &
    Parameters<typeof Settings.submitOptionsOf>[0] &
    Parameters<typeof annotationOf>[0] &
    Settings.ServiceFlags & {
      readonly directory: Option.Option<string>
      readonly listen: Option.Option<unknown>
      readonly experts: ReadonlyArray<string>
      readonly turnaround: Option.Option<Duration.Duration>
      readonly once: Option.Option<boolean>
      readonly quiet: boolean
    },
  judge: JudgeSettings | undefined,
) {
  const directory = Settings.directoryOf(flags.directory)
  const source = yield* sourceOf(flags, directory)
  const options = { ...(yield* Settings.submitOptionsOf(flags)), ...(yield* annotationOf(flags)) }
  if (Option.isSome(flags.baseUrl) && (flags.experts.length > 0 || Option.isSome(flags.turnaround))) {
    return yield* new UsageError({
      message: "--expert, --turnaround: only for the embedded service, which is not used with a base URL",
    })
  }
  if (Option.isNone(flags.baseUrl) && Option.isSome(flags.listen)) {
    return yield* new UsageError({
      message: "--listen: only with a base URL; the embedded service sends no webhooks to its own run",
    })
  }
  if (Option.isNone(flags.baseUrl) && flags.experts.length === 0) {
    // Unattended, nobody reads that a rule judges in place of people.
    const unattended = Option.contains(flags.once, true)
      ? "--once"
      : flags.quiet
        ? "--quiet"
        : (yield* Settings.Checking)
          ? "schedule"
          : undefined
    if (unattended !== undefined) {
      return yield* new UsageError({
        message: `${unattended}: say who judges: the annotation service in PREFSTREAM_BASE_URL or --base-url, or an --expert of the embedded one`,
      })
    }
    yield* Console.error(
      `No --base-url: tasks go to an embedded service, whose scripted expert prefers the ${trialExpert} completion. ` +
        "That is for trying things out; choose another with --expert.",
    )
  }
  const service = AnnotationService.layerEmbedded({
    database: JobFolder.service(directory),
    experts: flags.experts.length === 0 ? [trialExpert] : flags.experts,
    judge,
    turnaround: Option.getOrUndefined(flags.turnaround),
  })
  return Pipeline.make({ ...options, directory, source, service })
})
