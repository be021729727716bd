/**
 * The contents of a job folder:
 * ```
 * ledger.db        the record of every item, task, and result (SQLite)
 * service.db       tasks of the embedded annotation service, if it is used
 * judge-answers.db answers of language models, if they judge
 * rejects.jsonl    rejected records, with file, line, and reason
 * dataset/         the preference pairs
 * export.json      job, fingerprint, and results of the last export, to skip an export that would change nothing
 * group.txt        the group of the last run's tasks at the service. If the ledger is lost, set `group` to this name
 * refused/         the report on a dataset that exceeded a threshold and was not written
 * settings.yaml    the settings of the last run, from its command line and prefstream.yaml
 * ```
 */
import { Effect, FileSystem } from "effect"
import { SettingInvalid } from "../io/SettingInvalid.ts"

export const defaultDirectory = "prefstream-job"

export const ledger = (directory: string): string => `${directory}/ledger.db`
export const service = (directory: string): string => `${directory}/service.db`
export const judgeAnswers = (directory: string): string => `${directory}/judge-answers.db`
export const rejects = (directory: string): string => `${directory}/rejects.jsonl`
export const settings = (directory: string): string => `${directory}/settings.yaml`
export const dataset = (directory: string): string => `${directory}/dataset`
export const exported = (directory: string): string => `${directory}/export.json`
export const group = (directory: string): string => `${directory}/group.txt`
export const refused = (directory: string): string => `${directory}/refused`

export const create = Effect.fn("JobFolder.create")(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs
    .makeDirectory(directory, { recursive: true })
    .pipe(
      Effect.catchReason("PlatformError", "AlreadyExists", () =>
        Effect.fail(new SettingInvalid({ setting: "directory", expected: "a folder", found: `the file ${directory}` })),
      ),
    )
})
