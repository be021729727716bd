/**
 * `prefstream export`: the dataset from the ledger, without the service or the input.
 */
import { Effect, FileSystem } from "effect"
import { Command } from "effect/cli"
import * as JobFolder from "../pipeline/JobFolder.ts"
import * as Pipeline from "../pipeline/Pipeline.ts"
import * as RunReport from "../pipeline/RunReport.ts"
import { Ledger } from "../task/Ledger.ts"
import { UsageError } from "./ExitStatus.ts"
import { jobOf, pipelineArgument } from "./PipelineFile.ts"
import * as Settings from "./Settings.ts"
import * as Summary from "./Summary.ts"

/** A ledger that must be there already, to read from. */
export const existingLedger = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const file = JobFolder.ledger(directory)
  if (yield* fs.exists(file)) return Ledger.layerReadonly(file)
  return yield* new UsageError({ message: `there is no ledger at ${file}: name the job folder with --dir` })
})

export const exportCommand = Command.make(
  "export",
  { pipeline: pipelineArgument, directory: Settings.directory, json: Settings.json },
  Effect.fn("prefstream export")(function* (flags) {
    const { directory, pipeline } = yield* jobOf(flags)
    yield* Effect.gen(function* () {
      const [elapsed, written] = yield* Effect.timed(Pipeline.exportDataset({ directory, pairs: pipeline?.pairs }))
      const report = yield* RunReport.make({ elapsed, ...written })
      yield* Summary.print(report, { directory, json: flags.json })
    }).pipe(Effect.provide(yield* existingLedger(directory)))
  }),
).pipe(
  Command.withDescription(
    "Write the dataset of all results that the ledger holds. The same ledger gives the same bytes. " +
      "Results that are still missing are left out, and come in with the next export.",
  ),
  Command.withShortDescription("Write the dataset from the ledger"),
  Command.withExamples([
    { command: "prefstream export --dir week-48", description: "Write week-48/dataset" },
    { command: "prefstream export pipelines/quickstart.ts", description: "With the pairs that a pipeline makes" },
  ]),
)
