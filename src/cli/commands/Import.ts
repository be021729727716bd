/** `prefstream import` reads votes from other tools into a ledger. */
import { Console, Effect, FileSystem } from "effect"
import * as Pipeline from "../../pipeline/Pipeline.ts"
import type { ImportReport } from "../../pipeline/ImportVotes.ts"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import { count, number, plural } from "../../io/Values.ts"
import { makeCommand } from "../flags/Definition.ts"
import { maxRejects, printDetected } from "../flags/InputFlags.ts"
import { ledgerFlags, type Place, placeOf } from "../flags/LedgerFlags.ts"
import { check } from "../flags/FlagCombinations.ts"
import { itemFlags, resubmitFlags } from "../flags/TaskFlags.ts"
import { voteFlags, votesOf } from "../flags/VoteFlags.ts"
import * as Settings from "../settings/Settings.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { inRejects } from "../output/Flags.ts"
import * as Summary from "../output/Summary.ts"
import { printable, table } from "../output/Text.ts"

export const command = makeCommand(
  "import",
  "Import votes from other tools into the ledger: tables with one record per vote or per item, and exports from " +
    "Argilla and Label Studio. Sends nothing to the service. Importing the same votes again adds nothing; new votes are added. " +
    "Then write the dataset with prefstream export.",
  {
    ...voteFlags,
    maxRejects: maxRejects("Maximum rejects; above it, exit status 5", {
      default: "stop if the first 100,000 records are rejected",
    }),
    guidelines: itemFlags.guidelines,
    guidelinesFile: itemFlags.guidelinesFile,
    newCampaign: resubmitFlags.newCampaign,
    newLedger: resubmitFlags.newLedger,
    ...ledgerFlags,
  },
  Effect.fn("prefstream import")(function* (flags) {
    yield* check(flags)
    const place = yield* placeOf(flags)
    const fs = yield* FileSystem.FileSystem
    const votes = yield* votesOf(flags)
    yield* Console.error(`Reading ${votes.description}; the job folder is ${place.directory}/`)
    yield* printDetected(votes)
    const where = {
      directory: place.directory,
      ledger: place.location,
      newLedger: yield* Settings.mayBeNew(flags.newLedger, place.directory),
    }
    const report = yield* Pipeline.importVotes({
      directory: place.directory,
      votes,
      guidelines:
        flags.guidelinesFile === undefined ? flags.guidelines : yield* fs.readFileString(flags.guidelinesFile),
      newCampaign: flags.newCampaign,
      maxRejects: flags.maxRejects,
    }).pipe(Effect.provide(Pipeline.layerImport(where)))
    yield* Console.log(flags.json ? JSON.stringify(inRejects(report)) : printable(textOf(report, place)))
    if (report.read > 0 && report.rejected === report.read) {
      return yield* new ExitStatus.Finished({ status: ExitStatus.ofRun.all_rejected })
    }
  }),
  {
    "prefstream import votes.jsonl --dir judged": "One record per vote; fields are detected",
    "prefstream import votes.csv --choice-path annotator1 --choice-path annotator2": "One column per expert",
    "prefstream import labels.jsonl --choice-map '0=first,1=second,2=tie'":
      "Choices are numbers; --choice-map gives the meaning of each number",
  },
)

const textOf = (report: ImportReport, { directory, given, ledger }: Place): string =>
  [
    report.imported === 0
      ? `No votes were added${report.read === 0 ? ": the input has no records" : ""}.`
      : `Imported ${count(report.votes, "vote")}.`,
    ...(report.rejected === 0
      ? []
      : [
          `${number(report.rejected)} of ${count(report.read, "record")} ${plural(report.rejected, "was", "were")} rejected: see ${JobFolder.rejects(directory)}.`,
        ]),
    ...(report.imported + report.duplicates === 0 ? [] : [`Next: prefstream export ${given}.`]),
    "",
    ...table([
      [
        "read",
        `${count(report.read, "record")} = ${number(report.imported)} imported + ${count(report.duplicates, "duplicate")} + ${number(report.rejected)} rejected`,
      ],
      ["", Summary.earlier(report.earlier)],
      ["votes", `${number(report.votes)}${report.ties === 0 ? "" : `, including ${count(report.ties, "tie")}`}`],
      ["new", count(report.items, "item")],
      ["rejects", report.rejected + report.earlier.rejected > 0 && JobFolder.rejects(directory)],
      ...report.rejects.map((one) => ["", Summary.rejectCount(one)] as const),
      ["ledger", ledger],
    ]),
  ].join("\n")
