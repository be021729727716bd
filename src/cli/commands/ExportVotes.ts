/** `prefstream export-votes` prints the votes of a ledger as JSON Lines or CSV. */
import { Effect, type PlatformError, Predicate, Stdio, Stream } from "effect"
import { formats } from "../../domain/VoteRow.ts"
import * as VoteTable from "../../pipeline/VoteTable.ts"
import { LedgerReader } from "../../task/ledger/Ledger.ts"
import { makeCommand } from "../flags/Definition.ts"
import { annotationFlags, annotationPathsOf } from "../flags/AnnotationPath.ts"
import { campaignFlag } from "../flags/CampaignFlag.ts"
import { existingLedger, ledgerFlags, placeOf } from "../flags/LedgerFlags.ts"
import { literals, raw, toggle } from "../flags/Values.ts"

/** The reader closed the pipe early, as `head` does. This is not a failure. */
const isClosedPipe = ({ reason }: PlatformError.PlatformError): boolean =>
  Predicate.isObject(reason.cause) && "code" in reason.cause && reason.cause.code === "EPIPE"

const { json: _json, ...where } = ledgerFlags

export const command = makeCommand(
  "export-votes",
  "Print all votes, one record per vote. A record has the item, prompt, completions, expert's name, choice, order shown, " +
    "rationale, and time. With names, the table is for your team only; with --pseudonyms, it can be published with the dataset. " +
    "prefstream import can read the table. In CSV, an apostrophe precedes each text that a spreadsheet would run as a formula; import removes the apostrophe.",
  {
    as: literals("as", formats, "Format of the table", { metavar: "FORMAT", default: "jsonl" }),
    raw,
    pseudonyms: toggle("pseudonyms", "Replace experts' names with the pseudonyms of the dataset", {
      isTypedOnly: true,
    }),
    campaign: campaignFlag("print"),
    ...annotationFlags,
    ...where,
  },
  Effect.fn("prefstream export-votes")(function* (flags) {
    const place = yield* placeOf(flags)
    const stdio = yield* Stdio.Stdio
    yield* VoteTable.text(flags.as ?? "jsonl", {
      isRaw: flags.raw === true,
      pseudonyms: flags.pseudonyms,
      campaign: flags.campaign,
      annotationPaths: annotationPathsOf(flags),
    }).pipe(
      Stream.run(stdio.stdout({ endOnDone: false })),
      Effect.catchTag("PlatformError", (error) => (isClosedPipe(error) ? Effect.void : Effect.fail(error))),
      LedgerReader.snapshot,
      Effect.provide(existingLedger(place.location)),
    )
  }),
  {
    "prefstream export-votes --dir week-48 > votes.jsonl": "All votes of a job",
    "prefstream export-votes --dir week-48 --pseudonyms > votes.jsonl": "A table to publish beside the dataset",
    "prefstream export-votes --dir week-48 --as csv > votes.csv": "All votes of a job, for a spreadsheet",
  },
)
