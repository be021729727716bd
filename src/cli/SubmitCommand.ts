/**
 * `prefstream submit`: the first half of the flow, for jobs that do not stay to wait.
 */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Pipeline from "../pipeline/Pipeline.ts"
import * as Progress from "./Progress.ts"
import * as Settings from "./Settings.ts"
import * as Summary from "./Summary.ts"

export const submitCommand = Command.make(
  "submit",
  {
    ...Settings.input,
    ...Settings.task,
    ...Settings.service,
    directory: Settings.directory,
    json: Settings.json,
  },
  Effect.fn("prefstream submit")(function* (flags) {
    const directory = Settings.directoryOf(flags.directory)
    const source = yield* Settings.sourceOf(flags)
    const options = yield* Settings.submitOptionsOf(flags)
    const service = Settings.serviceOf(flags, Settings.serviceRequired)
    yield* Console.error(`Reading ${source.description}; the job folder is ${directory}/`)
    yield* Progress.during(Pipeline.submit({ ...options, directory, source })).pipe(
      Effect.provide(Pipeline.layer({ directory, service })),
      Effect.flatMap((report) => Summary.finishSubmit(report, { directory, json: flags.json })),
    )
  }),
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
