/**
 * Reads a source into the ledger and submits the new items. Warns if all records of a file were rejected, but another
 * file has usable records. Also warns if items of an earlier run have model names, but the items of this run have none.
 */
import { Effect, FileSystem, Option, Result, Stream } from "effect"
import type { InputFile } from "../domain/InputFile.ts"
import type { Reject } from "../domain/Reject.ts"
import * as Origin from "../domain/Origin.ts"
import { LazyItems } from "../source/format/json/PlainThread.ts"
import { InputAudit } from "../source/place/InputAudit.ts"
import type { Source } from "../source/Source.ts"
import { Ledger } from "../task/ledger/Ledger.ts"
import { type RunOptions, submitRun } from "../task/Submit.ts"
import { plural } from "../io/Values.ts"
import { furtherTermsOf } from "./AdaptiveVotes.ts"
import * as JobFolder from "./JobFolder.ts"

export const recordingInputs =
  (files: Array<InputFile>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provideService(InputAudit, (file) => void files.push(file)),
      Effect.ensuring(
        Ledger.use((ledger) =>
          ledger.newestRun.pipe(
            Effect.flatMap(Effect.fromOption),
            Effect.flatMap((run) => ledger.recordInputs(run, files)),
            Effect.ignore,
          ),
        ),
      ),
    )

export const readAndSubmit = Effect.fnUntraced(function* <E, R>(
  settings: RunOptions & {
    readonly source: Source<E, R>
    readonly directory: string
    readonly job?: string | undefined
  },
) {
  const files: Array<InputFile> = []
  const rejects = new Map<string, { readonly count: number; readonly first: Reject }>()
  let items = 0
  let withModels = 0
  const records = settings.source.records.pipe(
    Stream.mapArray((records) => {
      for (const record of records) {
        if (Result.isSuccess(record)) {
          items++
          if (record.success.item.models !== undefined) withModels++
          continue
        }
        const { count, first } = rejects.get(record.failure.file) ?? { count: 0, first: record.failure }
        rejects.set(first.file, { count: count + 1, first })
      }
      return records
    }),
  )
  const { maxPlanned = settings.source.maxPlanned } = settings
  const jobName = settings.job ?? (yield* nameOf(settings.directory))
  const fs = yield* FileSystem.FileSystem
  const { isShared } = yield* Ledger
  const onGroup = (group: string | undefined) => {
    const file = JobFolder.group(settings.directory)
    const write = group === undefined ? fs.remove(file, { force: true }) : fs.writeFileString(file, group)
    return isShared ? Effect.void : Effect.ignore(write)
  }
  const further = Option.getOrUndefined(furtherTermsOf(settings))
  const options = { ...settings, jobName, onGroup, maxPlanned, confidence: further?.confidence }
  return yield* submitRun(records, options).pipe(
    Effect.provideService(LazyItems, true),
    recordingInputs(files),
    Effect.map(({ run }) => ({ run })),
    Effect.bind("warnings", () =>
      Effect.map(items > 0 && withModels === 0 ? missingModels : Effect.succeed([]), (missing) => [
        ...rejectedFiles(files, rejects),
        ...missing,
      ]),
    ),
  )
})

/** Idempotency keys depend on this name, so it must stay the same even if the ledger is lost. */
const nameOf = (directory: string) =>
  FileSystem.FileSystem.use((fs) => fs.realPath(directory)).pipe(
    Effect.orElseSucceed(() => directory),
    Effect.map((path) =>
      path
        .split(/[\\/]/)
        .filter((name) => name !== "")
        .slice(-2)
        .join("/")
        .slice(-200)
        .toWellFormed(),
    ),
  )

const rejectedFiles = (
  files: ReadonlyArray<InputFile>,
  rejects: ReadonlyMap<string, { readonly count: number; readonly first: Reject }>,
) => {
  const withRecords = files.filter(({ records = 0 }) => records > 0)
  const messages = withRecords.flatMap(({ file, records }) => {
    const rejected = rejects.get(file)
    if (rejected === undefined || rejected.count !== records) return []
    const { count, first } = rejected
    const which = plural(count, "its only record was rejected:", `all ${count} records were rejected; first:`)
    return [`${file}: ${which} ${Origin.describe(first)}: ${first.reason}`]
  })
  return messages.length < withRecords.length ? messages : []
}

const missingModels = Ledger.use((ledger) =>
  Effect.map(
    Stream.runHead(ledger.prompts),
    Option.match({
      onNone: () => [],
      onSome: ({ models }) =>
        models === undefined
          ? []
          : [
              "the items in this run have no model names, but items in an earlier run have them. In the dataset, chosen_model and rejected_model will be missing from the new items' pairs",
            ],
    }),
  ),
)

export const warn = ({ warnings }: { readonly warnings: ReadonlyArray<string> }) =>
  Effect.forEach(warnings, (warning) => Effect.logWarning(warning), { discard: true })
