/**
 * Compares the pairs of two datasets by item id and texts. A pair is flipped if the second dataset chooses the text
 * that the first one rejects. Memory is constant up to 100 million pairs. The temporary file takes 0.2 kB per pair. If
 * the input has no ids, an item's id is a hash of its content. If a text changes, this id changes, too.
 */
import { Effect, FileSystem, Option, Path, Record, Schema, Stream } from "effect"
import { type Split, splits } from "../domain/Split.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { excerpt, joinWords } from "../io/Values.ts"
import * as ScratchFile from "../node/ScratchFile.ts"
import { featuresOf } from "./Columns.ts"
import * as DiffItems from "./DiffItems.ts"
import { type DiffKind, field, fieldCount, kinds } from "./DiffItems.ts"
import * as DiffRecords from "./DiffRecords.ts"
import type { Json, JsonRow } from "./file/Features.ts"
import type { DatasetFile, Manifest } from "./Manifest.ts"
import * as Read from "./Read.ts"

/** An item's outcome in a dataset's job. Outcomes explain differences between datasets. */
export interface JobOutcome {
  /** The item's id in the dataset. */
  readonly itemId: string
  /** The reason why the item gives no pair, such as `tie`. Null if it gives pairs. */
  readonly lost: string | null
  /** `vote_no_longer_counted` if a voter on the item has votes in dataset A, but none in B. Otherwise null. */
  readonly cause: string | null
}

/** `ignore` names a column that neither dataset has, or that identifies pairs. */
export class ColumnUnknown extends Schema.TaggedError<ColumnUnknown>()("ColumnUnknown", {
  /** The name in `ignore`. */
  column: Schema.String,
  /** The names of the columns that can be ignored. */
  columns: Schema.Array(Schema.String),
}) {
  override get message() {
    return `expected ${joinWords(this.columns, "or")}, found ${this.column}`
  }
}

/** Options of `diff`. */
export interface DiffOptions<E = never, R = never> {
  /** Maximum number of examples of each kind. Default 5. */
  readonly show?: number | undefined
  /** Columns to ignore, such as `rationale`. Default: none. */
  readonly ignore?: ReadonlyArray<string> | undefined
  /** Whether to compare `task_id`, which always differs between jobs. Default false. */
  readonly taskIds?: boolean | undefined
  /** The directory for temporary files. Default: the system's. */
  readonly scratchDirectory?: string | undefined
  /** The outcomes of all judged items in A's job. Default: unknown. */
  readonly outcomesA?: Stream.Stream<JobOutcome, E, R> | undefined
  /** The outcomes of all judged items in B's job. Default: unknown. */
  readonly outcomesB?: Stream.Stream<JobOutcome, E, R> | undefined
}

/** One differing pair. */
export interface DiffExample {
  /** The id of the pair's item. */
  readonly item_id: string
  /** The beginning of the prompt. */
  readonly prompt: string
  /** A key of `reasons` in the example's `PairDifference`. */
  readonly reason: string
  /** File and line in A, such as `jsonl/train-00000-of-00001.jsonl:17`; null if the pair is only in B. */
  readonly a: string | null
  /** File and line in B; null if the pair is only in A. */
  readonly b: string | null
  /** For a pair in both datasets: the columns that differ. */
  readonly changes: { readonly [column: string]: { readonly a: Json; readonly b: Json } }
}

/** The pairs of one `DiffKind`: flipped, changed, gone, or added. */
export interface PairDifference {
  /** Number of pairs. */
  readonly pairs: number
  /** Number of pairs by reason. `unknown` counts pairs for which no reason was found. */
  readonly reasons: { readonly [reason: string]: number }
  /** Examples, selected by a hash of the item id. */
  readonly examples: ReadonlyArray<DiffExample>
}

/** The result of `diff`. `A` is the first dataset, `B` the second. */
export interface DatasetDiff extends Readonly<Record<DiffKind, PairDifference>> {
  /** The folder and the number of pairs of the first dataset. */
  readonly a: { readonly directory: string; readonly rows: number }
  /** The folder and the number of pairs of the second dataset. */
  readonly b: { readonly directory: string; readonly rows: number }
  /** Whether any pair or column differs. */
  readonly differs: boolean
  /** Number of equal pairs. */
  readonly same: number
  /** Number of `changed` pairs by column. The key `split` counts pairs that are in different splits. */
  readonly columns: { readonly [column: string]: number }
  /** Columns that only one of the datasets has. In the other dataset, the values of these columns count as null. */
  readonly only_in: { readonly a: ReadonlyArray<string>; readonly b: ReadonlyArray<string> }
  /** Settings that differ between the manifests. */
  readonly settings: { readonly [setting: string]: { readonly a: Json; readonly b: Json } }
  /** Experts who have votes in A's report and are not in B's report, with their number of votes in A's report. */
  readonly lost_experts: { readonly [expert: string]: number }
}

interface Shard {
  readonly path: string
  readonly file: DatasetFile
  readonly split: Split
}

const shardsOf = (directory: string, { files, splits }: Manifest, paths: Path.Path): Array<Shard> =>
  splits.flatMap(({ split }) =>
    files
      .filter(({ path }) => path.startsWith(`jsonl/${split}-`))
      .map((file) => ({ path: paths.join(directory, file.path), file, split })),
  )

const columnNames = (manifest: Manifest): ReadonlyArray<string> => Object.keys(featuresOf(manifest))

const differing = (a: JsonRow, b: JsonRow): { [name: string]: { readonly a: Json; readonly b: Json } } =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])]
      .map((name) => [name, { a: a[name] ?? null, b: b[name] ?? null }] as const)
      .filter(([, { a, b }]) => JSON.stringify(a) !== JSON.stringify(b)),
  )

const ReportExperts = Schema.fromJsonString(
  Schema.Struct({ experts: Schema.Array(Schema.Struct({ expert: Schema.NullOr(Schema.String), votes: Schema.Int })) }),
)

const expertsOf = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.orElseSucceed(fs.readFileString(`${directory}/report.json`), () => "")
  const report = Schema.decodeUnknownOption(ReportExperts)(text)
  const rows = Option.isNone(report) ? [] : report.value.experts
  return new Map(rows.flatMap(({ expert, votes }) => (expert === null ? [] : [[expert, votes] as const])))
})

/** Returns the voters of `a` who are missing in `b`. If all are missing, returns none: `b` may use other pseudonyms. */
export const lostExperts = Effect.fnUntraced(function* (a: string, b: string) {
  const [before, after] = [yield* expertsOf(a), yield* expertsOf(b)]
  const lost = [...before].filter(([expert, votes]) => votes > 0 && !after.has(expert))
  return new Map(lost.length === before.size ? [] : lost)
})

/** Compares the datasets in two directories. Fails with `ColumnUnknown` if `ignore` has an invalid name. */
export const diff = Effect.fn("Dataset.diff")(function* <E = never, R = never>(
  a: string,
  b: string,
  options: DiffOptions<E, R> = {},
) {
  yield* Kinds.check(options, { ignore: Kinds.texts, show: Kinds.number, scratchDirectory: Kinds.text })
  const { outcomesA, outcomesB, scratchDirectory, show = 5, taskIds = false } = options
  const ignore = [...(options.ignore ?? []), ...(taskIds ? [] : ["task_id"])]
  const paths = yield* Path.Path
  const manifests = [yield* Read.manifest(a), yield* Read.manifest(b)] as const
  const names = manifests.map(columnNames)
  const matched = ["item_id", "chosen", "rejected"]
  const all = [...new Set(["split", ...names.flat()])].filter((name) => !matched.includes(name))
  const unknown = options.ignore?.find((name) => !all.includes(name))
  if (unknown !== undefined) return yield* new ColumnUnknown({ column: unknown, columns: all })
  const columns = all.filter((name) => !ignore.includes(name))
  const settings = differing(manifests[0].settings ?? {}, manifests[1].settings ?? {})

  // If two files have the same digest, their rows are equal and need not be read.
  let same = 0
  const shardsB = shardsOf(b, manifests[1], paths)
  const shardsA = shardsOf(a, manifests[0], paths).filter(({ file, split }) => {
    const at = shardsB.findIndex((other) => other.split === split && other.file.sha256 === file.sha256)
    if (at !== -1) shardsB.splice(at, 1)
    if (at !== -1) same += file.rows ?? 0
    return at === -1
  })

  const width = fieldCount + columns.length
  const records = yield* DiffRecords.make(width, scratchDirectory)
  const files = [...shardsA, ...shardsB]
  for (const [number, shard] of files.entries()) {
    const record = new Float64Array(width)
    record[field.side] = number < shardsA.length ? 0 : 1
    record[field.file] = number
    yield* Read.checkDigest(shard.path, shard.file.sha256)
    yield* DiffRecords.forEachLine(shard.path, (text, line) => {
      const row = DiffRecords.parse(text)
      const [chosen, rejected] = [DiffRecords.valueOf(row["chosen"]), DiffRecords.valueOf(row["rejected"])]
      record[field.item] = DiffRecords.valueOf(row["item_id"])
      record[field.low] = Math.min(chosen, rejected)
      record[field.high] = Math.max(chosen, rejected)
      record[field.isLowChosen] = chosen < rejected ? 1 : 0
      record[field.line] = line
      for (const [i, name] of columns.entries()) {
        record[fieldCount + i] = name === "split" ? splits.indexOf(shard.split) : DiffRecords.valueOf(row[name])
      }
      records.add(record)
    })
  }
  const texts: Array<string | null> = [null]
  const numberOf = (text: string | null): number => {
    const at = texts.indexOf(text)
    return at === -1 ? texts.push(text) - 1 : at
  }
  const sources = files.length === 0 ? [] : [outcomesA, outcomesB]
  for (const [side, outcomes = Stream.empty] of sources.entries()) {
    const record = new Float64Array(width)
    record[field.side] = side + DiffItems.outcomeSide
    yield* Stream.runForEachArray(outcomes, (all) =>
      ScratchFile.attempt(() => {
        for (const { cause, itemId, lost } of all) {
          record[field.item] = DiffRecords.hash(itemId)
          record[DiffItems.outcomeField.lost] = numberOf(lost)
          record[DiffItems.outcomeField.cause] = numberOf(cause)
          records.add(record)
        }
      }),
    )
  }

  const items = DiffItems.make({
    columns,
    hasLedger: [outcomesA !== undefined, outcomesB !== undefined],
    settings: manifests.some(({ settings }) => settings === undefined) ? undefined : Object.keys(settings),
    show,
    texts,
  })
  for (let partition = 0; partition < records.partitionCount; partition++) {
    const all = yield* ScratchFile.attempt(() => records.read(partition))
    const order = Uint32Array.from({ length: all.length / width }, (_, i) => i * width)
    order.sort((one, other) => all[one]! - all[other]!)
    for (let start = 0, end = 0; start < order.length; start = end) {
      while (end < order.length && all[order[end]!] === all[order[start]!]) end++
      items.compare(Array.from(order.subarray(start, end), (at) => all.subarray(at, at + width)))
    }
    yield* Effect.yieldNow
  }

  // `records` contains hashes instead of texts. The texts of the examples are read from the files again.
  const shown = Object.values(items.tallies).flatMap(({ drawn }) =>
    drawn.flatMap(({ a, b }) => [a ?? [], b ?? []].flat()),
  )
  const placeOf = (record: Float64Array) => `${files[record[field.file]!]!.file.path}:${record[field.line]}`
  const rows = new Map<string, JsonRow>()
  for (const [number, { path, split }] of files.entries()) {
    const wanted = new Set(shown.flatMap((record) => (record[field.file] === number ? [record[field.line]!] : [])))
    if (wanted.size === 0) continue
    yield* DiffRecords.forEachLine(path, (text, line) => {
      if (wanted.has(line)) rows.set(`${number}:${line}`, { ...DiffRecords.parse(text), split })
    })
  }
  const exampleOf = ({ a, b, reason }: DiffItems.Drawn): DiffExample => {
    const rowOf = (record: Float64Array | undefined) =>
      record === undefined ? undefined : rows.get(`${record[field.file]}:${record[field.line]}`)
    const [one, other] = [rowOf(a), rowOf(b)]
    const { item_id, prompt } = one ?? other ?? {}
    return {
      item_id: typeof item_id === "string" ? item_id : "",
      prompt: excerpt(typeof prompt === "string" ? prompt : JSON.stringify(prompt), 120),
      reason,
      a: a === undefined ? null : placeOf(a),
      b: b === undefined ? null : placeOf(b),
      changes:
        one === undefined || other === undefined
          ? {}
          : Record.filter(differing(one, other), (_, name) => !ignore.includes(name)),
    }
  }
  const differences = Record.map(items.tallies, ({ drawn, pairs, reasons }) => ({
    pairs,
    reasons: Object.fromEntries([...reasons].toSorted(([, a], [, b]) => b - a)),
    examples: drawn.map(exampleOf),
  }))
  const only_in = {
    a: names[0]!.filter((name) => !names[1]!.includes(name)),
    b: names[1]!.filter((name) => !names[0]!.includes(name)),
  }
  const difference: DatasetDiff = {
    a: { directory: a, rows: manifests[0].rows },
    b: { directory: b, rows: manifests[1].rows },
    differs: kinds.some((kind) => differences[kind].pairs > 0) || only_in.a.length + only_in.b.length > 0,
    same: same + items.same(),
    ...differences,
    columns: Object.fromEntries([...items.changed].toSorted(([, a], [, b]) => b - a)),
    only_in,
    settings,
    lost_experts: Object.fromEntries(yield* lostExperts(a, b)),
  }
  return difference
}, Effect.scoped)
