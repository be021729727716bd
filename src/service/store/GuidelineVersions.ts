/**
 * Versions of guidelines. An edit applies to all tasks of the organization with these guidelines, even to future tasks.
 * It changes the text, but not the rubric. Call all functions except `history` and `edit` inside `Database.write`.
 */
import { Clock, Effect, Option } from "effect"
import * as Guidelines from "../../api/Guidelines.ts"
import * as Sha256 from "../../node/Sha256.ts"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import { toStorableText } from "../database/TaskTables.ts"
import type { GuidelineHistory } from "../pageApi/TasksApi.ts"
import { conflict, notFound } from "../pageApi/WebProblems.ts"
import { TaskRequests } from "./TaskRequests.ts"

export interface Current {
  readonly base: string
  readonly sent: string | undefined
  readonly text: string | undefined
  readonly version: number
}

type Versions = GuidelineHistory["versions"]

export const make = Effect.gen(function* () {
  const { sql, write } = yield* Database
  const requests = yield* TaskRequests

  const current = Effect.fnUntraced(function* ({ organization, seq }: { readonly organization: string; seq: number }) {
    const { guidelines: sent } = yield* requests.of(seq)
    const base = Sha256.hex(JSON.stringify([organization, sent ?? null]))
    const [newest] = yield* sql<{ text: string; version: number }>`
      SELECT text, version FROM guidelines_version WHERE base = ${base} ORDER BY version DESC LIMIT 1`
    const { text, version } = newest ?? { text: Guidelines.textOf(sent), version: 1 }
    return { base, sent, text, version } satisfies Current
  })

  /** Stores which version a person sees first. Later, `changedFor` can detect a newer version. */
  const meet = (expertNo: number, { base, version }: Current) =>
    sql`INSERT OR IGNORE INTO guidelines_seen ${sql.insert({ expert_no: expertNo, base, version })}`

  /** If the person last saw an older version of the guidelines, returns this version. Otherwise, returns undefined. */
  const changedFor = Effect.fnUntraced(function* (expertNo: number, { base, sent, version }: Current) {
    if (version === 1) return undefined
    const [seen] = yield* sql<{ version: number; text: string | null }>`
      SELECT guidelines_seen.version, text FROM guidelines_seen LEFT JOIN guidelines_version USING (base, version)
      WHERE expert_no = ${expertNo} AND base = ${base}`
    if (seen === undefined || seen.version >= version) return undefined
    return { from: seen.version, before: seen.text ?? Guidelines.textOf(sent) ?? "" }
  })

  const acknowledge = (expertNo: number, { base, version: newest }: Current, version: number) =>
    sql`UPDATE guidelines_seen SET version = MAX(version, ${Math.min(version, newest)})
      WHERE expert_no = ${expertNo} AND base = ${base}`

  const taskBy = (taskId: string) =>
    Effect.map(
      sql<{ organization: string; seq: number }>`SELECT organization, seq FROM task WHERE task_id = ${taskId}`,
      (rows) => rows[0],
    )

  const history = Effect.fn("Desk.guidelines")(function* (taskId: string) {
    const task = yield* taskBy(taskId)
    if (task === undefined) return Option.none()
    const { base, sent } = yield* current(task)
    const changed = yield* sql<Versions[number]>`
      SELECT version, text, operator AS by, at FROM guidelines_version WHERE base = ${base} ORDER BY version DESC`
    const text = Guidelines.textOf(sent) ?? ""
    return Option.some({
      has_rubric: (sent ?? "") !== text,
      versions: [...changed, { version: 1, text, by: null, at: null }],
    } satisfies GuidelineHistory)
  })

  const edit = Effect.fn("Desk.editGuidelines")(function* (
    taskId: string,
    change: { readonly text: string; readonly version: number; readonly operator: string },
  ) {
    const at = yield* Clock.currentTimeMillis
    const text = toStorableText(change.text)
    const task = yield* taskBy(taskId)
    if (task === undefined) return yield* notFound(`There is no task ${taskId}.`)
    const newest = yield* current(task)
    if (newest.version !== change.version) {
      const detail = `Version ${newest.version} of the guidelines was saved in the meantime, so your text is not saved.`
      return yield* conflict(detail)
    }
    if ((newest.text ?? "") === text) return yield* conflict("The text is unchanged.")
    const version = newest.version + 1
    const { operator } = change
    yield* sql`INSERT INTO guidelines_version ${sql.insert({ base: newest.base, version, text, operator, at })}`
    yield* Audit.record(sql, "guidelines.edit", taskId, { version })
  }, write)

  return { current, meet, changedFor, acknowledge, history, edit }
})
