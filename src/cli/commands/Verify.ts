/**
 * `prefstream verify`: whether a dataset is what its manifest says, and consistent in itself.
 */
import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import * as Dataset from "../../dataset/Dataset.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { ledgerFlags } from "../flags/LedgerFlags.ts"
import { count, printable } from "../output/Text.ts"

const directory = Argument.Directory("DIR", { mustExist: true }).pipe(
  Argument.withDescription("Dataset folder, such as week-48/dataset"),
)

const textOf = ({ directory, files, findings, rows }: Dataset.Verification) =>
  findings.length === 0
    ? `${directory} has no errors: ${count(rows, "pair")} in ${count(files, "file")}.`
    : findings.map(Dataset.formatFinding).join("\n")

export const verifyCommand = Command.make(
  "verify",
  { directory, json: ledgerFlags.json },
  Effect.fn("prefstream verify")(function* (flags) {
    const verification = yield* Dataset.verify(flags.directory)
    yield* Console.log(flags.json ? JSON.stringify(verification) : printable(textOf(verification)))
    if (verification.findings.length > 0) return yield* new ExitStatus.Finished({ status: ExitStatus.failure })
  }),
).pipe(
  Command.withDescription(
    "Check a dataset: the size and SHA-256 of every file, Parquet against JSON Lines row by row, and trainer formats. " +
      "Also check that no prompt is in two splits, and that the numbers of card and report agree. " +
      "Prints one line per finding. Exit status: 1 if there are any, else 0.",
  ),
  Command.withExamples([{ command: "prefstream verify week-48/dataset", description: "Check the dataset of a job" }]),
)
