/** What a person does who finds tasks in doubt: looks at the service, and tells what is there. */
import { assert } from "vitest"
import { command, reportOf, rows } from "./Job.ts"
import type { Recorded } from "./Recorded.ts"

export interface Doubt {
  /** Of the task, as `resolve` calls it. */
  readonly number: number
  /** At the service, where it is there. */
  readonly id: string | undefined
}

/** The tasks of the ledger that are in doubt, or were being sent when the process died. */
export const of = ({ book, job }: Recorded, state: "in_doubt" | "submitting" = "in_doubt"): ReadonlyArray<Doubt> => {
  const atService = new Map([...book.tasks.values()].map(({ id, key }) => [key, id]))
  return rows(job, `SELECT seq, idempotency_key FROM task WHERE state = '${state}' ORDER BY seq`).map(
    ({ idempotency_key, seq }) => ({ number: Number(seq) + 1, id: atService.get(String(idempotency_key)) }),
  )
}

/** Each task that the service has is known by its id, or in doubt and said to be. */
const areListed = async (recorded: Recorded) => {
  const { book, job } = recorded
  const doubtful = of(recorded)
  const known = rows(job, "SELECT task_id FROM task WHERE task_id IS NOT NULL").map(({ task_id }) => String(task_id))
  assert.sameMembers(
    [...known, ...doubtful.flatMap(({ id }) => (id === undefined ? [] : [id]))],
    [...book.tasks.keys()],
  )
  const status = await command(job, ["status"])
  const { tasks, issues } = reportOf(status)
  assert.strictEqual(tasks.in_doubt.tasks, doubtful.length)
  // It shows the first ten.
  assert.deepStrictEqual(
    issues.flatMap(({ state, task }) => (state === "in_doubt" ? [task] : [])),
    doubtful.slice(0, 10).map(({ number }) => number),
  )
  assert.strictEqual(status.status === 4, doubtful.length > 0)
  return doubtful
}

/** Settles all that is in doubt; gives how many there were. */
export const settle = async (recorded: Recorded): Promise<number> => {
  const doubtful = await areListed(recorded)
  for (const { id, number } of doubtful) {
    const decision = id === undefined ? ["--send-again"] : ["--adopt", id]
    const said = await command(recorded.job, ["resolve", String(number), ...decision])
    assert.strictEqual(said.status, 0, said.stderr)
  }
  return doubtful.length
}
