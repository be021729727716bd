/**
 * `prefstream submit`: the first half of the flow, for jobs that do not stay to wait.
 */
import { Console, Effect, Option } from "effect"
import { Command } from "effect/cli"
import * as Pipeline from "../../pipeline/Pipeline.ts"
import * as PublishedLimits from "../../task/client/PublishedLimits.ts"
import { annotationFlags, annotationOf } from "../flags/AnnotationFlags.ts"
import { inputFlags, type InputFlags, rejectFlags, sayFound, sourceOf } from "../flags/InputFlags.ts"
import { asJob, graceOf, jobFlags, orInDoubt, waitForOthers, withGrace } from "./Job.ts"
import { ledgerFlags, ledgerOf, placeOf } from "../flags/LedgerFlags.ts"
import { fromProgram, isPipelineFile, reported } from "../flags/PipelineFile.ts"
import * as Progress from "../output/Progress.ts"
import * as Settings from "../flags/Settings.ts"
import * as Summary from "../output/Summary.ts"

export const submitCommand = Command.make(
  "submit",
  {
    ...inputFlags,
    ...rejectFlags,
    ...Settings.task,
    ...annotationFlags,
    ...Settings.service,
    ...jobFlags,
    directory: Settings.directory,
    ...ledgerFlags,
    timeout: Settings.timeout,
    json: Settings.json,
  },
  Effect.fn("prefstream submit")(function* (given) {
    const program = given.files.find(isPipelineFile)
    const flags = program === undefined ? yield* Settings.fromEnvironment(given) : given
    const pipeline = program === undefined ? yield* fromFlags(flags) : yield* fromProgram(program, flags)
    const directory = Option.getOrElse(flags.directory, () => pipeline.directory)
    const timeout = Option.getOrElse(flags.timeout, () => pipeline.timeout)
    const grace = graceOf(flags, pipeline)
    const service = Settings.serviceOf(flags, reported(pipeline.service))
    const ledger = yield* ledgerOf(flags, directory, pipeline)
    yield* Settings.endOfCheck(program === undefined || Option.isSome(flags.baseUrl) ? service : undefined)
    yield* Console.error(`Reading ${pipeline.source.description}; the job folder is ${directory}/`)
    yield* sayFound(pipeline.source)
    const settings = {
      ...pipeline,
      ...(yield* Settings.againOf(flags, pipeline)),
      directory,
      timeout,
      grace,
      maxRejects: Option.getOrElse(flags.maxRejects, () => pipeline.maxRejects),
    }
    const place = yield* placeOf(flags, directory, ledger)
    yield* Progress.during(Pipeline.submit(settings)).pipe(
      orInDoubt,
      withGrace(grace),
      Effect.provide(Pipeline.layer({ directory, ledger, service: PublishedLimits.layer(service) })),
      Effect.flatMap((report) => Summary.finishSubmit(report, { ...place, json: flags.json })),
      waitForOthers(flags),
    )
  }, asJob),
).pipe(
  Command.withDescription("Read items and submit those that the ledger has not seen, without waiting for the results."),
  Command.withShortDescription("Submit items, and don't wait"),
  Command.withExamples([
    {
      command: "PREFSTREAM_BASE_URL=https://host/v1 PREFSTREAM_TOKEN=... prefstream submit items.jsonl --dir week-48",
      description: "Submit today",
    },
  ]),
)

const fromFlags = Effect.fnUntraced(function* (
  flags: InputFlags &
    Parameters<typeof Settings.submitOptionsOf>[0] &
    Parameters<typeof annotationOf>[0] & { readonly directory: Option.Option<string> },
) {
  return Pipeline.make({
    ...(yield* Settings.submitOptionsOf(flags)),
    ...(yield* annotationOf(flags)),
    directory: Settings.directoryOf(flags.directory),
    source: yield* sourceOf(flags, Settings.directoryOf(flags.directory)),
    service: Settings.serviceRequired,
  })
})
