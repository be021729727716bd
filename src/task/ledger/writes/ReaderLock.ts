/**
 * Lets only one process at a time read input into a shared job. If another process holds the lock, a command fails at
 * once, and a worker waits. The other process may be a suspended worker. Therefore, the waiting worker ends the other
 * worker's database session after five seconds. The session of a command is never ended.
 */
import { Duration, Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { FileLocked, FileLockError } from "../../../node/FileLock.ts"
import * as PostgresLock from "../../../node/PostgresLock.ts"

const interval = Duration.millis(250)
const tries = 20

const lockOf = (job: string) => `${job} reader`

export const acquire = (sql: SqlClient.SqlClient, job: string, by: "worker" | "command", repeats = tries) => {
  const lock = lockOf(job)
  // Only the sleep can be interrupted, so a lock that was taken is always released.
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
