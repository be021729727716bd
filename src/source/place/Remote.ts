/**
 * Reads remote files: what HTTP and S3 have in common.
 *
 * Guarantees: a failed connection is resumed where it broke, at most `retries` times without a byte in between. The
 * total time is unlimited; the time without a byte is limited (`idle`).
 */
import { Context, Duration, Effect, Predicate, Schedule, Schema, type Scope, Stream } from "effect"
import * as Backoff from "../../io/Backoff.ts"
import * as HttpFailure from "../../io/HttpFailure.ts"
import { type SourceError, unreadable } from "../record/SourceError.ts"
import type { Input, Version } from "./Input.ts"

/** May work if it is tried again. */
export class ConnectionLost extends Schema.TaggedError<ConnectionLost>()("ConnectionLost", {
  problem: Schema.String,
  /** How long the other side asks to wait. In milliseconds. */
  retryAfter: Schema.optionalKey(Schema.Number),
  cause: Schema.optionalKey(Schema.Defect()),
}) {}

const isConnectionLost = Schema.is(ConnectionLost)

/** How long another machine is waited for. */
export interface RemoteTimeouts {
  /** The longest time in which nothing comes. */
  readonly idle: Duration.Duration
  /** Attempts after the first, without a byte in between. */
  readonly retries: number
  /** Before the second attempt; doubled before each further one, up to `maxPause`. */
  readonly pause: Duration.Duration
}

/** A file keeps what is set when it is opened. */
export const RemoteTimeouts = Context.Reference<RemoteTimeouts>("prefstream/source/place/Remote/RemoteTimeouts", {
  defaultValue: () => ({ idle: Duration.minutes(2), retries: 5, pause: Duration.millis(500) }),
})

/** The fraction of `idle` after which a file is read on over another connection. */
const shareOfIdle = 4

const maxPause = Duration.seconds(60)

export interface Remote {
  readonly name: string
  readonly size: number | undefined
  /** Whether it can be read from elsewhere than its beginning. */
  readonly hasRanges: boolean
  readonly version: Version
  /** The bytes from `start` on, up to `end`, exclusive, or to the file's end. */
  readonly read: (
    start: number,
    end: number | undefined,
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

/** Tries again what a broken connection ends. */
export const withRetries = Effect.fnUntraced(function* <A, R>(
  name: string,
  attempt: Effect.Effect<A, SourceError | ConnectionLost, R>,
) {
  const timeouts = yield* RemoteTimeouts
  const { idle } = timeouts
  return yield* attempt.pipe(
    Effect.timeoutOrElse({ duration: idle, orElse: () => unreadable(name, idleProblem(idle)) }),
    Effect.retry(again(timeouts)),
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
    const { idle } = timeouts
    const silence = remote.hasRanges ? Duration.divideUnsafe(idle, shareOfIdle) : idle
    const expected = end ?? remote.size
    let at = start
    const count = (chunk: Uint8Array) => {
      at += chunk.length
      return expected === undefined || at <= expected
        ? Effect.succeed(chunk)
        : Effect.fail(
            unreadable(remote.name, `expected ${expected - start} bytes, found more: it was changed meanwhile`),
          )
    }
    const isWhole = Effect.suspend(() =>
      expected === undefined || at === expected
        ? Effect.void
        : new ConnectionLost({ problem: `it ended after ${at - start} of ${expected - start} bytes` }),
    )
    const attempt = Stream.suspend(() => {
      const first = at
      return Stream.transformPull(Stream.unwrap(remote.read(first, end)), (pull) =>
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
      Stream.concat(Stream.fromEffectDrain(isWhole)),
      Stream.mapError((error) =>
        // What fails after its last byte, as a check of the whole does, cannot be corrected by more bytes.
        isConnectionLost(error) && at > 0 && (!remote.hasRanges || at === expected)
          ? unreadable(
              remote.name,
              `${error.problem}, after ${at - start} bytes, and it cannot go on from there; try again, or download it first`,
              error.cause,
            )
          : error,
      ),
    )
    return attempt.pipe(Stream.retry(again(timeouts)), Stream.mapError(toSourceError(remote.name)))
  })

const idleProblem = (idle: Duration.Duration): string =>
  `nothing came for ${Duration.format(idle)}; --idle-timeout waits longer`

const again = ({ pause, retries }: RemoteTimeouts) =>
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

/** What a request that got no answer, or an answer that ended too soon, comes to. */
export const disconnected = (name: string, error: unknown): SourceError | ConnectionLost => {
  const cause = innermost(error)
  const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : ""
  const problem = cause instanceof Error && cause.message !== "" ? cause.message : `no connection ${code}`.trim()
  // A failed handshake (EPROTO) may succeed over another connection.
  const isLasting = code === "ENOTFOUND" || (HttpFailure.isInsecure(code) && code !== "EPROTO")
  return isLasting ? unreadable(name, problem, cause) : new ConnectionLost({ problem, cause })
}

const innermost = (error: unknown): unknown =>
  Predicate.hasProperty(error, "cause") && error.cause !== undefined ? innermost(error.cause) : error
