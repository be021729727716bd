/** The jobs of a database. Users name a job, and rows contain its number, which never changes. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

export interface Job {
  /** The job's number, from 1. It is 0 if the job does not exist. No row has the number 0. */
  readonly job: number
  /** Number of parts that the job's tasks are divided into (`task.part` in `Tables.ts`). It never changes. */
  readonly partCount: number
}

export const defaultPartCount = 64

const missing: Job = { job: 0, partCount: defaultPartCount }

/** The job exists with another number of parts, which cannot be changed. */
export class PartsDiffer extends Schema.TaggedError<PartsDiffer>()("PartsDiffer", {
  /** The name of the job. */
  job: Schema.String,
  /** The job's number of parts. */
  found: Schema.Int,
  /** The requested number of parts. */
  asked: Schema.Int,
}) {
  override get message() {
    return `job ${this.job} was created with ${this.found} parts, and this number cannot be changed to ${this.asked}: omit \`parts\``
  }
}

export const find = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<Job>`SELECT job, parts AS "partCount" FROM job WHERE name = ${name}`
  return rows[0] ?? missing
})

export const findOrCreate = Effect.fnUntraced(function* (name: string, parts?: number) {
  const sql = yield* SqlClient.SqlClient
  while (true) {
    const job = yield* find(name)
    if (job !== missing) {
      if (parts === undefined || parts === job.partCount) return job
      return yield* new PartsDiffer({ job: name, found: job.partCount, asked: parts })
    }
    // If another process inserts the same number or name first, this inserts nothing, and the loop reads again.
    yield* sql.withTransaction(sql`INSERT INTO job (job, name, parts)
      SELECT COALESCE(MAX(job), 0) + 1, ${name}, ${parts ?? missing.partCount} FROM job WHERE 1 = 1 ON CONFLICT DO NOTHING`)
  }
})

export const recordOf = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const { job } = yield* find(name)
  if (job === missing.job) return "nothing"
  return (yield* sql`SELECT 1 FROM run WHERE job = ${job} LIMIT 1`).length === 0 ? "name" : "runs"
})

export const names = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string }>`SELECT name FROM job
    WHERE EXISTS (SELECT 1 FROM run WHERE run.job = job.job) ORDER BY name LIMIT 20`
  return rows.map(({ name }) => name)
})
