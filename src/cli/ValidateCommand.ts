/**
 * `prefstream validate`: whether every record of the input can be used, and which can't and why.
 */
import { Console, Effect, FileSystem, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as Origin from "../domain/Origin.ts"
import type { Reject } from "../domain/Reject.ts"
import * as Inspection from "../pipeline/Inspection.ts"
import { allows, TooManyRejects } from "../task/RejectLimit.ts"
import { counts } from "./InspectCommand.ts"
import { inputFlags, maxRejects, sayFound, sourceOf } from "./InputFlags.ts"
import * as Settings from "./Settings.ts"
import { number, printable } from "./Summary.ts"

const defaultShown = 100

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
    const file = Option.isNone(flags.rejects) ? undefined : yield* fs.open(flags.rejects.value, { flag: "w" })
    const encoder = new TextEncoder()
    let shown = 0
    const onReject = Effect.fnUntraced(function* (reject: Reject) {
      if (file !== undefined) yield* file.writeAll(encoder.encode(`${JSON.stringify(reject)}\n`))
      if (flags.json || shown === most) return
      shown++
      yield* Console.log(printable(`${Origin.describe(reject)}: ${reject.reason}`))
    })
    const inspection = yield* Inspection.inspect(source, { onReject })
    if (flags.json) {
      const { first: _, ...report } = inspection
      yield* Console.log(JSON.stringify(report))
    } else {
      const more = inspection.rejected - shown
      if (more > 0 && shown > 0) yield* Console.log(`… and ${number(more)} more`)
      yield* Console.error(`${number(inspection.read)} read = ${counts(inspection)}`)
    }
    const { read, rejected } = inspection
    const limit = Option.getOrElse(flags.maxRejects, () => 0 as const)
    if (!allows(limit, { read, rejected })) return yield* new TooManyRejects({ read, rejected, limit })
  }, Effect.scoped),
).pipe(
  Command.withDescription(
    "Read the input as a run would, and print each record that can't be used, one line each: file and line, field, what was expected, what was found. " +
      "Sends and writes nothing. Ends with 0 where all can be used, and with 5 where more are refused than --max-rejects allows.",
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
