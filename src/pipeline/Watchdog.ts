/**
 * Whether a worker moves its parts: it may be alive, and connected, and wait for something that does not come.
 *
 * Guarantees: a worker that has taken no request for longer than `limit`, though tasks of its parts were due at each look,
 * fails with `WorkerStalled`; so does one whose ledger does not answer. `limit` has to be longer than a request may take.
 */
import { Clock, Duration, Effect, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/** A worker got nothing done, though there was work. */
export class WorkerStalled extends Schema.TaggedError<WorkerStalled>()("WorkerStalled", { millis: Schema.Number }) {
  override get message() {
    return `nothing was sent or polled for ${Duration.format(Duration.millis(this.millis))}, though tasks are due: this worker ends, so that others take its parts`
  }
}

const interval = Duration.seconds(20)

export const watch = Effect.fnUntraced(function* (worker: {
  /** How many requests it has taken. */
  readonly requests: () => number
  /** Whether one of its tasks is due. */
  readonly isDue: Effect.Effect<boolean, SqlError>
  readonly limit: Duration.Duration
  /** It moves, or has nothing to do. */
  readonly onProgress: (now: number) => void
}) {
  const { isDue, limit, onProgress, requests } = worker
  let seen = requests()
  let since = yield* Clock.currentTimeMillis
  while (true) {
    yield* Effect.sleep(interval)
    const due = yield* isDue.pipe(Effect.timeoutOrElse({ duration: interval, orElse: () => Effect.succeed(true) }))
    const now = yield* Clock.currentTimeMillis
    if (requests() !== seen || !due) {
      seen = requests()
      since = now
      onProgress(now)
    } else if (now - since > Duration.toMillis(limit)) {
      return yield* new WorkerStalled({ millis: now - since })
    }
  }
})
