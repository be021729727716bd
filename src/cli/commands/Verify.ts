/** `prefstream verify` checks whether a dataset matches its manifest, and whether its files agree with each other. */
import { Console, Effect, FileSystem } from "effect"
import { Argument } from "effect/cli"
import * as Dataset from "../../dataset/Dataset.ts"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import { count } from "../../io/Values.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { makeCommand } from "../flags/Definition.ts"
import { ledgerFlags } from "../flags/LedgerFlags.ts"
import { printable } from "../output/Text.ts"

const directory = Argument.Directory("DIR", { mustExist: true }).pipe(
  Argument.withDescription("Dataset folder, such as week-48/dataset"),
)

const hasErrors = ({ findings }: Dataset.Verification) => findings.some(({ severity }) => severity === "error")

const textOf = (verification: Dataset.Verification) => {
  const { directory, files, findings, rows } = verification
  const lines = findings.map((finding) =>
    finding.severity === "warning" ? `warning: ${Dataset.formatFinding(finding)}` : Dataset.formatFinding(finding),
  )
  const summary = `${directory} has no errors: ${count(rows, "pair")} in ${count(files, "file")}.`
  return [...lines, ...(hasErrors(verification) ? [] : [summary])].join("\n")
}

export const command = makeCommand(
  "verify",
  "Check a dataset: the size and SHA-256 of every file, Parquet against JSON Lines row by row, and trainer formats. " +
    "Also check that no prompt is in two splits, and that the dataset card and the report contain the same numbers. " +
    "Prints one line per finding, and a warning with the number of rows whose completions trainers would cut. " +
    "Exits with 1 if there are errors.",
  { directory, json: ledgerFlags.json },
  Effect.fn("prefstream verify")(function* (flags) {
    const fs = yield* FileSystem.FileSystem
    const dataset = JobFolder.dataset(flags.directory)
    if (!(yield* fs.exists(`${flags.directory}/manifest.json`)) && (yield* fs.exists(`${dataset}/manifest.json`))) {
      return yield* ExitStatus.usageError(`${flags.directory} is a job folder: prefstream verify ${dataset}`)
    }
    const verification = yield* Dataset.verify(flags.directory)
    yield* Console.log(flags.json ? JSON.stringify(verification) : printable(textOf(verification)))
    if (hasErrors(verification)) return yield* new ExitStatus.Finished({ status: ExitStatus.failure })
  }),
  { "prefstream verify week-48/dataset": "Check the dataset of a job" },
)
