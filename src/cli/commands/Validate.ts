/**
 * `prefstream validate`: whether every record of the input can be used, and which can't and why.
 */
import { Console, Effect, FileSystem, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as Origin from "../../domain/Origin.ts"
import type { Reject } from "../../domain/Reject.ts"
import * as Inspection from "../../pipeline/Inspection.ts"
import * as Listing from "../../source/place/Listing.ts"
import * as PlaceName from "../../source/place/PlaceName.ts"
import { allows, TooManyRejects } from "../../task/plan/RejectLimit.ts"
import { counts } from "./Inspect.ts"
import { UsageError } from "../output/ExitStatus.ts"
import { type InputFlags, inputFlags, maxRejects, sayFound, sourceOf } from "../flags/InputFlags.ts"
import * as Settings from "../flags/Settings.ts"
import { number, printable } from "../output/Summary.ts"

const defaultShown = 100

/** What is to be written must not be what is read. */
const refuseInput = Effect.fnUntraced(function* (
  rejects: string,
  { completions, files }: Pick<InputFlags, "files" | "completions">,
) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(rejects))) return
  const local = [...files, ...completions].filter((name) => PlaceName.kindOf(name) === "local")
  const inputs = yield* Effect.mapError(Listing.expand(local), ({ message }) => new UsageError({ message }))
  const real = yield* fs.realPath(rejects)
  for (const input of inputs.files) {
    if ((yield* fs.realPath(input)) === real) {
      return yield* new UsageError({ message: `--rejects: ${rejects} is an input; name another file` })
    }
  }
})

export const validateCommand = Command.make(
  "validate",
  {
    ...inputFlags,
    maxRejects: maxRejects.pipe(
      Flag.withDescription(
        "Exit with 5 when more records than this, or a larger share of them, are refused (default: 0)",
      ),
      Flag.optional,
    ),
    show: Flag.Int("show").pipe(
      Flag.withMetavar("N"),
      Flag.withSchema(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
      Flag.withDescription(`How many refused records to print (default: ${defaultShown})`),
      Flag.optional,
    ),
    rejects: Flag.String("rejects").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription(
        "Write all refused records into this file, one JSON object a line: file, line, reason, text",
      ),
      Flag.optional,
    ),
    json: Settings.json,
  },
  Effect.fn("prefstream validate")(function* (flags) {
    const fs = yield* FileSystem.FileSystem
    const source = yield* sourceOf(flags)
    yield* sayFound(source)
    const most = Option.getOrElse(flags.show, () => defaultShown)
    const partial = Option.map(flags.rejects, (name) => `${name}.partial`)
    if (Option.isSome(flags.rejects)) yield* refuseInput(flags.rejects.value, flags)
    const file = Option.isNone(partial) ? undefined : yield* fs.open(partial.value, { flag: "w" })
    const encoder = new TextEncoder()
    let shown = 0
    const onReject = Effect.fnUntraced(function* (reject: Reject) {
      if (file !== undefined) yield* file.writeAll(encoder.encode(`${JSON.stringify(reject)}\n`))
      if (flags.json || shown === most) return
      shown++
      yield* Console.log(printable(`${Origin.describe(reject)}: ${reject.reason}`))
    })
    const inspection = yield* Inspection.inspect(source, { onReject, readAll: Option.isSome(flags.maxRejects) })
    if (flags.json) {
      const { first: _, ...report } = inspection
      yield* Console.log(JSON.stringify(report))
    } else {
      const more = inspection.rejected - shown
      if (more > 0 && shown > 0) yield* Console.log(`… and ${number(more)} more`)
      yield* Console.error(`${number(inspection.read)} read = ${counts(inspection)}`)
    }
    if (Option.isSome(partial) && Option.isSome(flags.rejects)) yield* fs.rename(partial.value, flags.rejects.value)
    const { read, rejected } = inspection
    if (inspection.stopped) return yield* new TooManyRejects({ read, rejected, limit: null })
    const limit = Option.getOrElse(flags.maxRejects, () => 0 as const)
    if (!allows(limit, { read, rejected })) return yield* new TooManyRejects({ read, rejected, limit })
  }, Effect.scoped),
).pipe(
  Command.withDescription(
    "Read the input as a run would, and print each record that can't be used, one line each: file and line, field, what was expected, what was found. " +
      "Sends nothing, and writes nothing but --rejects. Ends with 0 where all can be used, and with 5 where more are refused than --max-rejects allows.",
  ),
  Command.withShortDescription("Check the input alone: every record that can't be used, and why"),
  Command.withExamples([
    { command: "prefstream validate items.jsonl", description: "Is every record usable?" },
    {
      command: "prefstream validate items.csv --max-rejects 1% --rejects refused.jsonl",
      description: "Allow one in a hundred, and keep what is refused",
    },
  ]),
)
