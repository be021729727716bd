/**
 * The lock of the process that reads input into a shared job. A command fails at once if another process has it. A
 * worker waits five seconds, then ends the session of another worker (perhaps suspended), but never a command's.
 */
import { Duration, Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { FileLocked, FileLockError } from "../../../node/FileLock.ts"
import * as PostgresLock from "../../../node/PostgresLock.ts"

/** Interval and attempts together give another worker five seconds to stop reading. */
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
