/** `prefstream verify` checks a dataset against its manifest, and its rows against votes. */
import { Console, Effect, FileSystem } from "effect"
import { Argument, Flag } from "effect/cli"
import * as Dataset from "../../dataset/Dataset.ts"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import { count } from "../../io/Values.ts"
import * as Pipeline from "../../pipeline/Pipeline.ts"
import * as Source from "../../source/Source.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { datasetFlags } from "../flags/DatasetFlags.ts"
import { makeCommand } from "../flags/Definition.ts"
import { ledgerFlags } from "../flags/LedgerFlags.ts"
import { option } from "../flags/Values.ts"
import { printable } from "../output/Text.ts"

const directory = Argument.Directory("DIR", { mustExist: true }).pipe(
  Argument.withDescription("Dataset folder, such as week-48/dataset"),
)

const notOwnTable =
  "expected the table that prefstream export-votes prints, with chosen_index and all other columns, found another table"

interface Verified extends Dataset.Verification {
  readonly rebuilt?: Omit<Pipeline.Rebuilt, "findings">
}

const hasErrors = ({ findings }: Dataset.Verification) => findings.some(({ severity }) => severity === "error")

const textOf = (verified: Verified) => {
  const { directory, files, findings, rebuilt, rows } = verified
  const lines = findings.map((finding) =>
    finding.severity === "warning" ? `warning: ${Dataset.formatFinding(finding)}` : Dataset.formatFinding(finding),
  )
  const summary = [
    `${directory} has no errors: ${count(rows, "pair")} in ${count(files, "file")}.`,
    ...(rebuilt === undefined
      ? []
      : [`Rebuilt ${count(rebuilt.files, "file")} from ${count(rebuilt.votes, "vote")}: same rows as in the dataset.`]),
  ]
  return [...lines, ...(hasErrors(verified) ? [] : summary)].join("\n")
}

export const command = makeCommand(
  "verify",
  "Check a dataset: the size and SHA-256 of every file, whether Parquet and JSON Lines have the same rows, and trainer formats. " +
    "Also check that no prompt is in two splits, and that the dataset card and the report contain the same numbers. " +
    "With --from-votes, also rebuild all files with rows (data and built-in trainer formats) from the vote table and the settings in the manifest, and compare the bytes. " +
    "Prints one line per finding, and a warning if trainers would truncate completions. " +
    "Exits with 1 if there are errors.",
  {
    directory,
    fromVotes: option(
      Flag.Path("from-votes", { mustExist: true }),
      "FILE",
      "Also rebuild the dataset from this vote table (output of prefstream export-votes --pseudonyms)",
      { isTypedOnly: true },
    ),
    evaluationPrompts: datasetFlags.evaluationPrompts,
    evaluationPath: datasetFlags.evaluationPath,
    json: ledgerFlags.json,
  },
  Effect.fn("prefstream verify")(function* ({ directory, evaluationPath, evaluationPrompts, fromVotes, json }) {
    const fs = yield* FileSystem.FileSystem
    const dataset = JobFolder.dataset(directory)
    if (!(yield* fs.exists(`${directory}/manifest.json`)) && (yield* fs.exists(`${dataset}/manifest.json`))) {
      return yield* ExitStatus.usageError(
        `${directory} is a job folder: to check its dataset, run prefstream verify ${dataset}`,
      )
    }
    if (fromVotes !== undefined && (yield* fs.stat(fromVotes)).type === "Directory") {
      return yield* ExitStatus.usageError(
        `--from-votes: expected a vote table, found a folder; prefstream export-votes --dir ${fromVotes} --pseudonyms prints the table of a job`,
      )
    }
    const verification = yield* Dataset.verify(directory)
    const prompts = evaluationPrompts.length === 0 ? undefined : yield* Source.texts(evaluationPrompts, evaluationPath)
    const rebuilt =
      fromVotes === undefined || hasErrors(verification)
        ? undefined
        : yield* Pipeline.verifyFromVotes(directory, Source.votes(fromVotes), { evaluationPrompts: prompts }).pipe(
            Effect.catchTag("DatasetUnreadable", ExitStatus.asUsageError),
            Effect.mapError((error) =>
              error._tag === "SourceError" && ["InvalidOption", "LayoutUnknown"].includes(error.reason._tag)
                ? ExitStatus.usageError(`--from-votes: ${fromVotes}: ${notOwnTable}`)
                : error,
            ),
          )
    const verified: Verified = {
      ...verification,
      findings: [...verification.findings, ...(rebuilt?.findings ?? [])],
      ...(rebuilt !== undefined && { rebuilt: { files: rebuilt.files, votes: rebuilt.votes } }),
    }
    yield* Console.log(json ? JSON.stringify(verified) : printable(textOf(verified)))
    if (hasErrors(verified)) return yield* new ExitStatus.Finished({ status: ExitStatus.failure })
  }),
  {
    "prefstream verify week-48/dataset": "Check the dataset of a job",
    "prefstream verify week-48/dataset --from-votes votes.jsonl": "Also rebuild the dataset from its votes",
  },
)
