/** `prefstream validate` checks whether every record is usable, and prints unusable records with the reason. */
import { Console, Effect, FileSystem } from "effect"
import * as Origin from "../../domain/Origin.ts"
import { type Reject, toLine } from "../../domain/Reject.ts"
import * as Inspection from "../../pipeline/Inspection.ts"
import { allows, TooManyRejects } from "../../task/plan/RejectLimit.ts"
import { count } from "../../io/Values.ts"
import { counts } from "../output/DryRunSummary.ts"
import { inFlags, inRejects } from "../output/Flags.ts"
import { usageError } from "../output/ExitStatus.ts"
import { makeCommand } from "../flags/Definition.ts"
import { type InputFlags, inputFlags, localInputs, maxRejects, printDetected, sourceOf } from "../flags/InputFlags.ts"
import { ledgerFlags } from "../flags/LedgerFlags.ts"
import { check } from "../flags/FlagCombinations.ts"
import { fromEnvironment, itemLimitsOf, serviceFlags } from "../flags/ServiceFlags.ts"
import { integer, text } from "../flags/Values.ts"
import { printable } from "../output/Text.ts"

const defaultShown = 100

const refuseInput = Effect.fnUntraced(function* (rejects: string, flags: Pick<InputFlags, "files" | "completions">) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(rejects))) return
  const real = yield* fs.realPath(rejects)
  for (const input of yield* localInputs(flags)) {
    if ((yield* fs.realPath(input)) === real) {
      return yield* usageError(`--rejects: ${rejects} is an input file; name another file`)
    }
  }
})

export const command = makeCommand(
  "validate",
  "Read the input as a run would, and print one line for each rejected record: file and line, field, expected value, and actual value. " +
    "Sends no items, and writes only the --rejects file. Exits with 5 if more records are rejected than --max-rejects allows.",
  {
    ...inputFlags,
    baseUrl: serviceFlags.baseUrl,
    maxCompletions: serviceFlags.maxCompletions,
    maxRejects: maxRejects("Maximum number or share of rejects; above it, exit status 5", { default: 0 }),
    show: integer("show", "Number of rejected records to print", { min: 0, default: defaultShown, isTypedOnly: true }),
    rejects: text("rejects", "FILE", "Write all rejected records to FILE as JSON Lines: file, line, reason, text", {
      isTypedOnly: true,
      path: "whole",
    }),
    json: ledgerFlags.json,
  },
  Effect.fn("prefstream validate")(function* (commandFlags) {
    const flags = yield* fromEnvironment(commandFlags)
    yield* check(flags)
    const fs = yield* FileSystem.FileSystem
    const source = yield* sourceOf(flags)
    yield* printDetected(source)
    const most = flags.show ?? defaultShown
    const { rejects } = flags
    const partial = `${rejects}.partial`
    if (rejects !== undefined) yield* refuseInput(rejects, flags)
    const file = rejects === undefined ? undefined : yield* fs.open(partial, { flag: "w" })
    const encoder = new TextEncoder()
    let shown = 0
    const onReject = Effect.fnUntraced(function* (reject: Reject) {
      if (file !== undefined) yield* file.writeAll(encoder.encode(toLine(reject, inFlags)))
      if (flags.json || shown === most) return
      shown++
      yield* Console.log(printable(`${Origin.describe(reject)}: ${inFlags(reject.reason)}`))
    })
    const inspection = yield* Inspection.inspect(source, {
      onReject,
      readAll: flags.maxRejects !== undefined,
      limits: yield* itemLimitsOf(flags),
    })
    if (flags.json) {
      const { first: _, ...report } = inspection
      yield* Console.log(JSON.stringify(inRejects(report)))
    } else {
      const more = inspection.rejected - shown
      if (more > 0 && shown > 0) yield* Console.log(`… and ${count(more, "more rejected record")}`)
      yield* Console.error(`${count(inspection.read, "record")} = ${counts(inspection)}`)
    }
    if (rejects !== undefined) yield* fs.rename(partial, rejects)
    const { read, rejected } = inspection
    if (inspection.stopped) return yield* new TooManyRejects({ read, rejected, limit: null })
    const limit = flags.maxRejects ?? (0 as const)
    if (!allows(limit, { read, rejected })) return yield* new TooManyRejects({ read, rejected, limit })
  }, Effect.scoped),
  {
    "prefstream validate items.jsonl": "Check that every record is usable",
    "prefstream validate items.csv --max-rejects 1% --rejects rejects.jsonl":
      "Allow 1% rejected records, and write them to a file",
  },
)
