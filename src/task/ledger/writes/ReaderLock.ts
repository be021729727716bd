/**
 * A lock for reading input into a job that several processes share.
 *
 * Guarantees: one process reads at a time. A process that has lost the lock writes nothing more, since its lock and its
 * transactions belong to one database session. A worker waits while a command holds the lock. If another worker keeps
 * the lock, because it is suspended or disconnected, that worker's session is ended. A command does not wait.
 */
import { Duration, Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { FileLocked, FileLockError } from "../../../node/FileLock.ts"
import * as PostgresLock from "../../../node/PostgresLock.ts"

/** Interval and number of attempts, which give a worker that has to stop reading five seconds. */
const interval = Duration.millis(250)
const tries = 20

const lockOf = (job: string) => `${job} reader`

export const acquire = (sql: SqlClient.SqlClient, job: string, by: "worker" | "command", repeats = tries) => {
  const lock = lockOf(job)
  // Only the wait can be interrupted, so a lock that was taken is always released.
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
