/**
 * Reads a source into the ledger, and submits what is new; the ledger remembers which files were read to their end.
 *
 * Guarantees: a file of which every record was rejected, while others have items, is known by name at the end.
 */
import { Effect, Option, Result, Stream } from "effect"
import type { InputFile } from "../domain/InputFile.ts"
import type { Reject } from "../domain/Reject.ts"
import * as Origin from "../domain/Origin.ts"
import { InputAudit } from "../source/place/InputAudit.ts"
import type { Source } from "../source/Source.ts"
import { Ledger } from "../task/ledger/Ledger.ts"
import { submit } from "../task/Submit.ts"

export const readAndSubmit = (settings: Parameters<typeof submit>[1] & { readonly source: Source }) =>
  Effect.suspend(() => {
    const files: Array<InputFile> = []
    const remember = Ledger.use((ledger) =>
      Effect.flatMap(
        ledger.newestRun,
        Option.match({ onNone: () => Effect.void, onSome: (run) => ledger.recordInputs(run, files) }),
      ),
    )
    /** Rejected records of each file, and the first of them. */
    const rejects = new Map<string, { readonly count: number; readonly first: Reject }>()
    const records = settings.source.records.pipe(
      Stream.mapArray((records) => {
        for (const record of records) {
          if (Result.isSuccess(record)) continue
          const { count, first } = rejects.get(record.failure.file) ?? { count: 0, first: record.failure }
          rejects.set(first.file, { count: count + 1, first })
        }
        return records
      }),
    )
    return submit(records, settings).pipe(
      Effect.provideService(InputAudit, (file) => void files.push(file)),
      Effect.ensuring(Effect.ignore(remember)),
      Effect.map((run) => ({ run, rejectedFiles: rejectedFiles(files, rejects) })),
    )
  })

/** Files without a usable record, unless that is all of them: then no item was read at all. */
const rejectedFiles = (
  files: ReadonlyArray<InputFile>,
  rejects: ReadonlyMap<string, { readonly count: number; readonly first: Reject }>,
) => {
  const withRecords = files.filter(({ records = 0 }) => records > 0)
  const found = withRecords.flatMap(({ file, records }) => {
    const rejected = rejects.get(file)
    return rejected !== undefined && rejected.count === records ? [{ file, ...rejected }] : []
  })
  return found.length < withRecords.length ? found : []
}

export const warnOfRejectedFiles = (files: ReturnType<typeof rejectedFiles>) =>
  Effect.forEach(
    files,
    ({ count, file, first }) =>
      Effect.logWarning(
        `${file}: ${count === 1 ? "its only record was" : `all ${count} records were`} rejected, first ${Origin.describe(first)}: ${first.reason}`,
      ),
    { discard: true },
  )
