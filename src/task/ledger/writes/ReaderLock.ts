/**
 * The lock of the process that reads input into a job that several processes share.
 *
 * Guarantees: one process reads at a time. A process that has lost the lock can write nothing more, since its lock and
 * its transactions belong to one database session. A worker waits while a command has the lock. If another worker keeps
 * the lock for more than five seconds, for example because it is suspended or disconnected, this process ends that
 * worker's session. A command does not wait.
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
