/**
 * The jobs of a database: people know a job by its name; rows have its number.
 *
 * Guarantees: a name keeps its number, and a job the number of its parts.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

export interface Job {
  /** From 1 on; 0 for a job that is not there, which no row has. */
  readonly job: number
  /** How many parts its batches are divided into: see `task.part`. */
  readonly partCount: number
}

/** Parts of a job that is begun without a number of its own. */
export const defaultPartCount = 64

const missing: Job = { job: 0, partCount: defaultPartCount }

/** A job has another number of parts than it was to have. */
export class PartsDiffer extends Schema.TaggedError<PartsDiffer>()("PartsDiffer", {
  job: Schema.String,
  found: Schema.Int,
  asked: Schema.Int,
}) {
  override get message() {
    return `job ${this.job} was created with ${this.found} parts, which cannot be changed to ${this.asked}: leave --parts out`
  }
}

/** A job, or one without rows. */
export const find = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<Job>`SELECT job, parts AS "partCount" FROM job WHERE name = ${name}`
  return rows[0] ?? missing
})

/** A job, which may be new. Fails with `PartsDiffer` where it is to have so many parts, and has others. */
export const findOrCreate = Effect.fnUntraced(function* (name: string, parts?: number) {
  const sql = yield* SqlClient.SqlClient
  while (true) {
    const found = yield* find(name)
    if (found !== missing) {
      if (parts === undefined || parts === found.partCount) return found
      return yield* new PartsDiffer({ job: name, found: found.partCount, asked: parts })
    }
    // Another process may take the number first, or create the same job.
    yield* sql.withTransaction(sql`INSERT INTO job (job, name, parts)
      SELECT COALESCE(MAX(job), 0) + 1, ${name}, ${parts ?? missing.partCount} FROM job WHERE 1 = 1 ON CONFLICT DO NOTHING`)
  }
})

/** What there is of a job: nothing, its name alone, or at least a run. */
export const recordOf = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const { job } = yield* find(name)
  if (job === missing.job) return "nothing"
  return (yield* sql`SELECT 1 FROM run WHERE job = ${job} LIMIT 1`).length === 0 ? "name" : "runs"
})

/** The names of those that have run. */
export const names = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string }>`SELECT name FROM job
    WHERE EXISTS (SELECT 1 FROM run WHERE run.job = job.job) ORDER BY name LIMIT 20`
  return rows.map(({ name }) => name)
})
