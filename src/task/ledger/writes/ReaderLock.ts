/**
 * The lock of the process that reads input into a job that several processes share.
 *
 * Guarantees: one process reads at a time. After a process has lost the lock, it cannot write, since its lock and its
 * transactions belong to one database session. If the lock is taken, a command fails at once, and a worker waits. If
 * another worker keeps the lock for more than five seconds, the waiting worker ends the other worker's session, because
 * the other worker may be suspended or disconnected. A worker never ends the session of a command.
 */
import { Duration, Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { FileLocked, FileLockError } from "../../../node/FileLock.ts"
import * as PostgresLock from "../../../node/PostgresLock.ts"

/** Interval and number of attempts. Together they give another worker five seconds to stop reading. */
const interval = Duration.millis(250)
const tries = 20

const lockOf = (job: string) => `${job} reader`

export const acquire = (sql: SqlClient.SqlClient, job: string, by: "worker" | "command", repeats = tries) => {
  const lock = lockOf(job)
  // Only the sleep can be interrupted, so that a lock is always released after it was taken.
  const take = Effect.gen(function* () {
    for (let tried = 1; !(yield* PostgresLock.tryTake(sql, lock)); tried++) {
      if (by === "command") {
        const holder = Option.filter(yield* PostgresLock.holder(sql, lock), (holder) => holder !== "unknown")
        return yield* new FileLockError({
          reason: new FileLocked({
            path: "the input of this job",
            ...(Option.isSome(holder) && { holder: holder.value }),
          }),
        })
      }
      if (tried % (repeats + 1) === 0) yield* PostgresLock.endWorker(sql, lock)
      yield* Effect.interruptible(Effect.sleep(interval))
    }
  })
  return Effect.acquireRelease(take, () => Effect.ignore(PostgresLock.release(sql, lock)))
}
