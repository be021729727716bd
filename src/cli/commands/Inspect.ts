/** `prefstream inspect` shows the content of files, and the number of tasks in a first run. It sends no items. */
import { Console, Effect, Struct } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import * as Origin from "../../domain/Origin.ts"
import type { SourceItem } from "../../domain/PromptItem.ts"
import { count, excerpt, number, shorten } from "../../io/Values.ts"
import * as Inspection from "../../pipeline/Inspection.ts"
import type { InputSummary } from "../../source/record/SourceRecord.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { makeCommand } from "../flags/Definition.ts"
import { describeUnused, inputFlags, inputInFlags, sourceOf } from "../flags/InputFlags.ts"
import { ledgerFlags } from "../flags/LedgerFlags.ts"
import { check } from "../flags/FlagCombinations.ts"
import { fromEnvironment, itemLimitsOf, serviceFlags } from "../flags/ServiceFlags.ts"
import { batchFlags, batchOf } from "../flags/TaskFlags.ts"
import { integer } from "../flags/Values.ts"
import { inRejects } from "../output/Flags.ts"
import { counts } from "../output/DryRunSummary.ts"
import { rejectCount } from "../output/Summary.ts"
import { printable, type Rows, rowsOf, table } from "../output/Text.ts"

export const command = makeCommand(
  "inspect",
  "Show the format and layout of files, the number of items, and the rejected records with the reasons. " +
    "Also show the number of tasks in a first run, and the first items as experts would see them. Items that share a prompt go into different tasks. Reads the whole input, unless the first 100,000 records are all rejected. Sends no items, and writes nothing.",
  {
    ...inputFlags,
    ...batchFlags,
    baseUrl: serviceFlags.baseUrl,
    maxCompletions: serviceFlags.maxCompletions,
    show: integer("show", "Number of items to show", { min: 0, default: 3, isTypedOnly: true }),
    json: ledgerFlags.json,
  },
  Effect.fn("prefstream inspect")(function* (commandFlags) {
    const flags = yield* fromEnvironment(commandFlags)
    yield* check(flags)
    const source = yield* sourceOf(flags)
    const summary = source.summary === undefined ? undefined : inputInFlags(yield* source.summary)
    const inspection = yield* Inspection.inspect(source, {
      batch: batchOf(flags),
      ...Struct.pick(flags, ["keepReordered", "completionsPerItem", "completionsSeed", "show"]),
      ...flags.votes,
      limits: yield* itemLimitsOf(flags),
    })
    yield* Console.log(
      flags.json
        ? JSON.stringify({ found: summary, ...inRejects(inspection) })
        : printable(text(source.description, summary, inspection)),
    )
    if (inspection.read > 0 && inspection.items === 0) {
      return yield* new ExitStatus.Finished({ status: ExitStatus.failure })
    }
  }),
  {
    "prefstream inspect items.parquet": "Show what a file contains",
    "prefstream inspect 's3://bucket/answers/*.jsonl.gz' --prompt-path '{instruction}\\n\\n{input}' --json":
      "Build the prompt from a template, and print JSON",
  },
)

const text = (description: string, summary: InputSummary | undefined, inspection: Inspection.Inspection): string =>
  [
    ...table([
      ...(summary === undefined ? rowsOf("input", [description]) : foundRows(summary)),
      ["records", `${number(inspection.read)} = ${counts(inspection)}`],
      ["", inspection.stopped && "all records so far were rejected, so reading stopped"],
      ...rowsOf("rejected", inspection.rejects.map(rejectCount)),
      ...itemRows(inspection),
      ["tasks", tasks(inspection)],
    ]),
    ...inspection.first.flatMap(shown),
  ].join("\n")

const foundRows = ({
  count: files,
  empty,
  files: sampled,
  hints,
  layout,
  unknownFields,
  unused,
}: InputSummary): Rows => [
  ...rowsOf(
    "files",
    sampled.map(({ description, name }) => `${name}: ${description}`),
  ),
  [
    "",
    files > sampled.length &&
      `and ${count(files - sampled.length, "more file")}; the format of each file is detected when the file is read`,
  ],
  ...empty.map((name) => ["", `${name}: no matching file`] as const),
  ["layout", layout ?? "unknown: no readable record at the start of the input"],
  ["", unknownFields.length > 0 && `fields missing from the first records: ${unknownFields.join(", ")}`],
  ...hints.map((hint) => ["", hint] as const),
  ["not used", unused.length > 0 && describeUnused(unused)],
]

const itemRows = ({ completions, conversations, drawn, gold, items, models }: Inspection.Inspection): Rows => [
  ["each with", completions.length > 0 && sizes(completions)],
  ["", drawn > 0 && `${number(drawn)} of ${count(items, "item")} with a sample of their completions`],
  ["", conversations > 0 && `${number(conversations)} of ${number(items)} prompts are conversations`],
  ["models", models > 0 ? `named in ${number(models)} of ${count(items, "item")}` : items > 0 && "none"],
  ["", gold > 0 && `${number(gold)} of ${count(items, "item")} with a gold answer`],
]

const sizes = (all: Inspection.Inspection["completions"]): string =>
  all
    .map(
      ({ completions, items }) => `${completions} completions${all.length === 1 ? "" : ` (${count(items, "item")})`}`,
    )
    .join(", ")

const tasks = ({ tasks, votes }: Inspection.Inspection): string =>
  `${count(tasks, "task")} in a first run${votes === 1 ? "" : `, ${number(votes)} votes per item`}`

const maxShownCharacters = 400

const indented = (text: string, indent: string): string =>
  shorten(text, maxShownCharacters).replaceAll("\n", `\n${indent}`)

const shown = ({ item, origin }: SourceItem): ReadonlyArray<string> => [
  "",
  `${Origin.describe(origin)}${item.id === undefined ? "" : `  (${excerpt(item.id, maxShownCharacters)})`}`,
  `  prompt     ${indented(Conversation.render(item.prompt), "             ")}`,
  ...item.completions.map((completion, index) => {
    const model = item.models?.[index]
    const gold = item.gold?.best_completion_index === index ? " (gold)" : ""
    return `  ${String(index).padEnd(9)}  ${model === undefined ? "" : `[${model}] `}${indented(completion, "             ")}${gold}`
  }),
]
