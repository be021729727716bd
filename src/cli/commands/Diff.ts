/** `prefstream diff` compares the pairs of two datasets. */
import { Console, Effect } from "effect"
import { Argument, Flag } from "effect/cli"
import * as Dataset from "../../dataset/Dataset.ts"
import { count, number, shorten } from "../../io/Values.ts"
import * as Pipeline from "../../pipeline/Pipeline.ts"
import { makeCommand } from "../flags/Definition.ts"
import { ledgerFlags } from "../flags/LedgerFlags.ts"
import { integer, repeated, toggle } from "../flags/Values.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { printable, rowsOf, table } from "../output/Text.ts"

const place = (name: string, which: string) =>
  Argument.String(name).pipe(
    Argument.withDescription(`The ${which} dataset: its folder, its manifest.json, or a job's folder`),
  )

const list = (counts: { readonly [name: string]: number }): string =>
  Object.entries(counts)
    .map(([name, n]) => `${name} ${number(n)}`)
    .join(", ")

const maxChanges = 5

const exampleOf = ({ a, b, changes, item_id, prompt, reason }: Dataset.DiffExample): ReadonlyArray<string> => [
  `  ${item_id}  ${a ?? "none"} → ${b ?? "none"}  ${reason.replaceAll("_", " ")}`,
  `    ${prompt}`,
  ...Object.entries(changes)
    .slice(0, maxChanges)
    .map(([name, { a, b }]) => `    ${name}: ${shorten(JSON.stringify(a), 60)} → ${shorten(JSON.stringify(b), 60)}`),
]

const textOf = (diff: Dataset.DatasetDiff): string => {
  const { a, b, columns, lost_experts, only_in, same, settings } = diff
  const differing = Dataset.diffKinds.filter((kind) => diff[kind].pairs > 0)
  const describe = (kind: Dataset.DiffKind): string => {
    const { pairs, reasons } = diff[kind]
    const why = Object.keys(reasons).join() === "unknown" ? "" : list(reasons).replaceAll("_", " ")
    return [number(pairs).padStart(12), ...(kind === "changed" ? [list(columns)] : []), why]
      .filter((part) => part !== "")
      .join("   ")
  }
  return [
    `A: ${a.directory}, ${count(a.rows, "pair")}`,
    `B: ${b.directory}, ${count(b.rows, "pair")}`,
    "",
    ...table([
      ["same", number(same).padStart(12)],
      ...differing.map((kind) => [kind, describe(kind)] as const),
      ...rowsOf(
        "settings",
        Object.entries(settings).map(([name, { a, b }]) => `${name}: ${JSON.stringify(a)} → ${JSON.stringify(b)}`),
      ),
      ...rowsOf(
        "experts",
        Object.entries(lost_experts).map(([expert, votes]) => `${expert}: ${count(votes, "vote")} in A, none in B`),
      ),
      ["only in A", only_in.a.length > 0 && `columns ${only_in.a.join(", ")}`],
      ["only in B", only_in.b.length > 0 && `columns ${only_in.b.join(", ")}`],
    ]),
    ...differing
      .filter((kind) => diff[kind].examples.length > 0)
      .flatMap((kind) => ["", `${kind}, A → B:`, ...diff[kind].examples.flatMap(exampleOf)]),
    ...(diff.differs ? [] : ["", "The datasets have the same pairs."]),
  ].join("\n")
}

export const command = makeCommand(
  "diff",
  "Compare the pairs of two datasets. Shows which pairs are added, gone, flipped, or changed, and the changed columns. In a flipped pair, the other completion was chosen. " +
    "Pairs are matched by item id and texts; the order of rows and files does not matter. " +
    "For each difference, the reason is derived from the votes and settings in both datasets. If a dataset is in the folder of the job that wrote it, the job's ledger is also read. " +
    "Exits with 1 if the datasets differ, and with 2 if one cannot be read.",
  {
    a: place("A", "first"),
    b: place("B", "second"),
    show: integer("show", "Maximum number of examples for each kind of difference", {
      min: 0,
      default: 5,
      isTypedOnly: true,
    }),
    ignore: repeated(Flag.String("ignore"), "COLUMN", "Column to ignore, such as rationale; repeatable", {
      isTypedOnly: true,
    }),
    taskIds: toggle("task-ids", "Also compare task_id, which always differs between jobs", { isTypedOnly: true }),
    json: ledgerFlags.json,
  },
  Effect.fn("prefstream diff")(function* ({ a, b, ignore, json, show, taskIds }) {
    const diff = yield* Pipeline.diff(a, b, { ignore, show, taskIds }).pipe(
      Effect.catchTag("DatasetUnreadable", ExitStatus.asUsageError),
      Effect.catchTag("ColumnUnknown", ({ message }) => ExitStatus.usageError(`--ignore: ${message}`)),
    )
    yield* Console.log(json === true ? JSON.stringify(diff) : printable(textOf(diff)))
    if (diff.differs) return yield* new ExitStatus.Finished({ status: ExitStatus.failure })
  }),
  {
    "prefstream diff last-week/dataset week-48": "Compare an earlier dataset with a job's dataset",
    "prefstream diff last-week week-48 --show 100 --json": "Compare the datasets of two jobs, as JSON",
  },
)
