/**
 * What a job folder contains:
 *
 * ```
 * ledger.db        the record of every item, task and result (SQLite)
 * service.db       tasks of the embedded annotation service, where it is used
 * rejects.jsonl    rejected records, with file, line and reason
 * dataset/         the preference pairs
 * export.json      what the dataset was last written from, and the summary's other numbers: an equal export is skipped
 * refused/         the report on a dataset that exceeded a threshold and was not written
 * settings.yaml    what the last run was given on its command line, and by prefstream.yaml
 * ```
 */
import { Effect, FileSystem } from "effect"

export const defaultDirectory = "prefstream-job"

export const ledger = (directory: string): string => `${directory}/ledger.db`
export const service = (directory: string): string => `${directory}/service.db`
export const rejects = (directory: string): string => `${directory}/rejects.jsonl`
export const settings = (directory: string): string => `${directory}/settings.yaml`
export const dataset = (directory: string): string => `${directory}/dataset`
export const exported = (directory: string): string => `${directory}/export.json`
export const refused = (directory: string): string => `${directory}/refused`

/** Makes the folder, if need be. */
export const create = Effect.fn("JobFolder.create")(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(directory, { recursive: true })
})
