/** After a lost connection, reading resumes at the same byte. Fails if `retries` retries in a row receive no data. */
import { Context, Duration, Effect, Predicate, Schedule, Schema, type Scope, Stream } from "effect"
import * as Backoff from "../../io/Backoff.ts"
import * as HttpFailure from "../../io/HttpFailure.ts"
import { type SourceError, unreadable } from "../record/SourceError.ts"
import type { Input, Version } from "./Input.ts"

export class ConnectionLost extends Schema.TaggedError<ConnectionLost>()("ConnectionLost", {
  problem: Schema.String,
  /** In milliseconds. */
  retryAfter: Schema.optionalKey(Schema.Number),
  cause: Schema.optionalKey(Schema.Defect()),
}) {}

const isConnectionLost = Schema.is(ConnectionLost)

export interface RemoteTimeouts {
  readonly idle: Duration.Duration
  readonly retries: number
  /** The pause before the first retry. It doubles with each retry, up to `maxPause`. */
  readonly pause: Duration.Duration
}

export const RemoteTimeouts = Context.Reference<RemoteTimeouts>("prefstream/source/place/Remote/RemoteTimeouts", {
  defaultValue: () => ({ idle: Duration.minutes(2), retries: 5, pause: Duration.millis(500) }),
})

/** If the server supports ranges, a download continues on a new connection after a quarter of `idle` without data. */
const shareOfIdle = 4

const maxPause = Duration.seconds(60)

export interface Remote {
  readonly name: string
  readonly size: number | undefined
  readonly hasRanges: boolean
  readonly version: Version
  readonly read: (
    start: number,
    range: string | undefined,
  ) => Effect.Effect<Stream.Stream<Uint8Array, SourceError | ConnectionLost>, SourceError | ConnectionLost, Scope.Scope>
}

export const input = (remote: Remote): Effect.Effect<Input> =>
  Effect.map(RemoteTimeouts, (timeouts) => {
    const input: Input = {
      name: remote.name,
      size: remote.size,
      bytes: pieces(remote, timeouts, 0, undefined),
      slice: remote.hasRanges ? (start, end) => slice(remote, timeouts, start, end) : undefined,
      ...(remote.hasRanges ? { sliced: remote.version } : undefined),
    }
    return input
  })

export const withRetries = Effect.fnUntraced(function* <A, R>(
  name: string,
  attempt: Effect.Effect<A, SourceError | ConnectionLost, R>,
) {
  const timeouts = yield* RemoteTimeouts
  const { idle } = timeouts
  return yield* attempt.pipe(
    Effect.timeoutOrElse({ duration: idle, orElse: () => unreadable(name, idleProblem(idle)) }),
    Effect.retry(retrySchedule(timeouts)),
    Effect.mapError(toSourceError(name)),
  )
})

const slice = Effect.fnUntraced(function* (remote: Remote, timeouts: RemoteTimeouts, start: number, end: number) {
  const bytes = new Uint8Array(end - start)
  if (bytes.length === 0) return bytes
  let at = 0
  yield* Stream.runForEachArray(pieces(remote, timeouts, start, end), (chunks) =>
    Effect.sync(() => {
      for (const chunk of chunks) {
        bytes.set(chunk, at)
        at += chunk.length
      }
    }),
  )
  return bytes
})

const pieces = (
  remote: Remote,
  timeouts: RemoteTimeouts,
  start: number,
  end: number | undefined,
): Stream.Stream<Uint8Array, SourceError> =>
  Stream.suspend(() => {
    if (remote.size === 0 && end === undefined) return Stream.empty
    const { idle } = timeouts
    const silence = remote.hasRanges ? Duration.divideUnsafe(idle, shareOfIdle) : idle
    const expected = end ?? remote.size
    let at = start
    const count = (chunk: Uint8Array): Effect.Effect<Uint8Array, SourceError> => {
      at += chunk.length
      return expected === undefined || at <= expected
        ? Effect.succeed(chunk)
        : unreadable(remote.name, `expected ${expected - start} bytes, found more: the file changed while it was read`)
    }
    const requireComplete = Effect.suspend(() =>
      expected === undefined || at === expected
        ? Effect.void
        : new ConnectionLost({ problem: `the connection ended after ${at - start} of ${expected - start} bytes` }),
    )
    const attempt = Stream.suspend(() => {
      const first = at
      const isWhole = first === 0 && end === undefined
      const range = isWhole ? undefined : `bytes=${first}-${end === undefined ? "" : end - 1}`
      return Stream.transformPull(Stream.unwrap(remote.read(first, range)), (pull) =>
        Effect.succeed(
          Effect.suspend(() =>
            Effect.timeoutOrElse(pull, {
              duration: at === first ? idle : silence,
              orElse: (): Effect.Effect<never, SourceError | ConnectionLost> =>
                at === first
                  ? unreadable(remote.name, idleProblem(idle))
                  : new ConnectionLost({ problem: idleProblem(idle) }),
            }),
          ),
        ),
      )
    }).pipe(
      Stream.mapEffect(count),
      Stream.concat(Stream.fromEffectDrain(requireComplete)),
      Stream.mapError((error) =>
        isConnectionLost(error) && at > 0 && (!remote.hasRanges || at === expected)
          ? unreadable(
              remote.name,
              `${error.problem}; the server cannot continue this download, which stopped after ${at - start} bytes: try again, or download the file first`,
              error.cause,
            )
          : error,
      ),
    )
    return attempt.pipe(Stream.retry(retrySchedule(timeouts)), Stream.mapError(toSourceError(remote.name)))
  })

const idleProblem = (idle: Duration.Duration): string =>
  `no data for ${Duration.format(idle)}; to wait longer, set \`idleTimeout\``

const retrySchedule = ({ pause, retries }: RemoteTimeouts) =>
  Backoff.exponential(pause, maxPause).pipe(
    Schedule.setInputType<SourceError | ConnectionLost>(),
    Schedule.upTo({ times: retries }),
    Schedule.while(({ input }) => isConnectionLost(input)),
    Schedule.modifyDelay(({ duration, input }) => {
      const retryAfter = Duration.millis(isConnectionLost(input) ? (input.retryAfter ?? 0) : 0)
      return Effect.succeed(Duration.min(Duration.max(duration, retryAfter), maxPause))
    }),
  )

const toSourceError = (name: string) => (error: SourceError | ConnectionLost) =>
  isConnectionLost(error) ? unreadable(name, error.problem, error.cause) : error

export const disconnected = (name: string, error: unknown): SourceError | ConnectionLost => {
  const cause = innermost(error)
  const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : ""
  const problem = cause instanceof Error && cause.message !== "" ? cause.message : `no connection ${code}`.trim()
  // After a failed handshake (EPROTO), another connection may succeed.
  const isPersistent = code === "ENOTFOUND" || (HttpFailure.isInsecure(code) && code !== "EPROTO")
  return isPersistent ? unreadable(name, problem, cause) : new ConnectionLost({ problem, cause })
}

const innermost = (error: unknown): unknown =>
  Predicate.hasProperty(error, "cause") && error.cause !== undefined ? innermost(error.cause) : error

/** @param load must call `catch` on its `import()`. Otherwise, bundlers fail if the package is not installed. */
export const client = <A>(name: string, place: string, library: string, load: () => Promise<A>) =>
  Effect.tryPromise({
    try: load,
    catch: (cause) => unreadable(name, `to read from ${place}, install its client: npm install ${library}`, cause),
  })

export const rethrow = (cause: unknown): never => {
  throw cause
}
