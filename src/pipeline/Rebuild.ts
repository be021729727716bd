/**
 * Rebuilds a dataset's rows from its vote table and its manifest, and compares the checksums of the data files. If
 * only Parquet files differ, this is a warning, because another version of Node compresses differently. Custom
 * formats, the card, and the report are not rebuilt. The splits depend on all planned prompts. If a planned item has
 * no votes, the splits are read from the dataset, and a warning is reported.
 */
import { Effect, FileSystem } from "effect"
import * as Findings from "../dataset/Findings.ts"
import * as Dataset from "../dataset/Dataset.ts"
import * as Manifest from "../dataset/Manifest.ts"
import type { Finding } from "../dataset/file/Finding.ts"
import { formatNames } from "../dataset/format/TrainerFormats.ts"
import { count, plural } from "../io/Values.ts"
import * as Export from "./Export.ts"
import * as ImportVotes from "./ImportVotes.ts"
import * as JobFolder from "./JobFolder.ts"
import * as ManifestSettings from "./ManifestSettings.ts"
import * as SplitTable from "./SplitTable.ts"

/** Options of `verifyFromVotes`. */
export interface RebuildOptions {
  /** The evaluation prompts of the export. Needed if the export left out items that contain an evaluation prompt. */
  readonly evaluationPrompts?: ReadonlyArray<string> | undefined
}

/** The result of `verifyFromVotes`, which computes a dataset from its votes again, and compares the two datasets. */
export interface Rebuilt {
  /** Number of files that were compared, including files that only one of both datasets has. */
  readonly files: number
  /** Number of votes in the table. */
  readonly votes: number
  /** Errors and warnings, such as files that differ. */
  readonly findings: ReadonlyArray<Finding>
}

const isCustom = (path: string): boolean =>
  path.startsWith("formats/") &&
  path.split("/").length > 2 &&
  !formatNames.some((name) => path.startsWith(`formats/${name}/`))

const rebuiltFiles = (files: ReadonlyArray<Manifest.DatasetFile>) =>
  new Map(files.flatMap((file) => (file.rows === null && !file.path.startsWith("formats/") ? [] : [[file.path, file]])))

/**
 * Rebuilds a dataset from its votes, and lists differences. Fails with `DatasetUnreadable` if the manifest lacks
 * something that the rows depend on.
 */
export const verifyFromVotes = Effect.fn("Pipeline.verifyFromVotes")(function* (
  directory: string,
  votes: ImportVotes.ImportSettings["votes"],
  { evaluationPrompts }: RebuildOptions = {},
) {
  const fs = yield* FileSystem.FileSystem
  const manifest = yield* Dataset.manifest(directory)
  // `annotationPaths` is left out, because the vote table already contains the values at these paths.
  const { annotationPaths: _paths, campaign, ...settings } = yield* ManifestSettings.of(manifest, evaluationPrompts)
  if (campaign === "all") {
    return yield* ManifestSettings.notRebuildable("one campaign", "all campaigns; a vote table does not name campaigns")
  }
  const job = yield* fs.makeTempDirectoryScoped({ prefix: "prefstream-rebuild-" })
  const where = { directory: job, ledger: undefined, job: undefined, newLedger: true }
  const findings = Findings.make()
  const add = (file: string, expected: string, actual: string, severity: Finding["severity"] = "error") =>
    findings.add({ file, expected, found: actual, severity })
  const planned = manifest.counts?.["planned"] ?? 0
  const imported = yield* ImportVotes.importVotes({ directory: job, votes }).pipe(
    Effect.tap(
      Effect.fnUntraced(function* ({ items }) {
        const table = planned > items ? yield* SplitTable.ofDataset(directory, manifest) : undefined
        if (table !== undefined) {
          const actual = `votes on ${items} of these items. Splits can be computed only from all items, so the rebuild used the splits of the dataset`
          add(Manifest.fileName, `votes on all ${planned} planned items`, actual, "warning")
        }
        const plannedFacts = { tools: manifest.tools === true, table }
        yield* Export.exportDataset({ ...settings, expertNames: true, directory: job, plannedFacts })
      }),
    ),
    Effect.provide(ImportVotes.layer(where)),
  )
  const { rejected, rejects } = imported
  if (rejected > 0) {
    add(votes.description, "a vote in each record", `${count(rejected, "record")} with ${rejects[0]?.code}`)
  }
  const rebuilt = rebuiltFiles((yield* Dataset.manifest(JobFolder.dataset(job))).files)
  const original = rebuiltFiles(manifest.files)
  const isEqual = (path: string) => rebuilt.get(path)?.sha256 === original.get(path)?.sha256
  const paths = [...new Set([...original.keys(), ...rebuilt.keys()])]
  const hasSameRows = paths.every((path) => !path.startsWith("jsonl/") || isEqual(path))
  for (const path of paths) {
    if (isCustom(path)) {
      add(path, "a built-in format", "a custom format, so the file was not rebuilt", "warning")
    } else if (!isEqual(path)) {
      const digest = (files: typeof original) => files.get(path)?.sha256 ?? "no such file"
      if (hasSameRows && path.endsWith(".parquet")) {
        add(
          path,
          digest(rebuilt),
          "the same rows in different bytes, because another version of Node wrote the file",
          "warning",
        )
      } else add(path, `the rebuilt file: ${digest(rebuilt)}`, digest(original))
    }
  }
  if (findings.all().some(({ severity }) => severity === "error")) {
    const diff = yield* Dataset.diff(directory, JobFolder.dataset(job), { show: 3, scratchDirectory: job })
    for (const kind of Dataset.diffKinds) {
      const { examples, pairs } = diff[kind]
      if (pairs === 0) continue
      const items = examples.map(({ item_id }) => item_id).join(", ")
      const columns = kind === "changed" ? ` (columns: ${Object.keys(diff.columns).join(", ")})` : ""
      add(
        votes.description,
        "the pairs of the dataset",
        `after the rebuild, ${count(pairs, "pair")} ${plural(pairs, "is", "are")} ${kind}${columns}, for example in item ${items}`,
      )
    }
  }
  return {
    files: paths.filter((path) => !isCustom(path)).length,
    votes: imported.votes,
    findings: findings.all(),
  } satisfies Rebuilt
}, Effect.scoped)
