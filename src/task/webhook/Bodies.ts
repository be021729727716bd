/**
 * Reads the bodies of webhook deliveries. Anybody may send a delivery, which is why there are limits:
 * - At most 512 bodies are read at the same time. A further body replaces the oldest unfinished body.
 * - A body must arrive within 15 seconds, with pauses of at most 5 seconds.
 * - All bodies together have at most 32 MiB, or `limit` if `limit` is larger. The first 64 KiB of a body do not count.
 */
import { ByteSize, Bytes, Deferred, Duration, Effect, Schema, Stream } from "effect"

export interface IncomingBody {
  readonly headers: { readonly [name: string]: string | undefined }
  readonly stream: Stream.Stream<Uint8Array, unknown>
}

export const defaultLimit = ByteSize.mebibytes(1)
const maxReaders = 512
const smallBytes = 64 * 1024
const sharedBytes = 32 * 1024 * 1024
const maxPause = Duration.seconds(5)
const maxDuration = Duration.seconds(15)

const refusals = {
  too_large: { status: 413, kind: "too large", why: "its body is larger than MAX" },
  too_slow: { status: 408, kind: "too slow", why: "its body did not arrive in time" },
  too_many: { status: 503, kind: "above the concurrency limit", why: "too many deliveries arrive at the same time" },
  broken: { status: 400, kind: "incomplete", why: "the connection broke before the complete body arrived" },
  encoded: {
    status: 415,
    kind: "compressed",
    why: "its body is compressed (Content-Encoding), which is not supported",
  },
}

/** A body was refused before its signature was verified. */
export class BodyRefused extends Schema.TaggedError<BodyRefused>()("BodyRefused", {
  /** `too_many` means that too many bodies arrive at the same time. `encoded` means that the body is compressed. */
  reason: Schema.Literals(["too_large", "too_slow", "too_many", "broken", "encoded"]),
  /** The HTTP status of the answer. */
  status: Schema.Int,
  /** A short name of the reason, for counts in the log. */
  kind: Schema.String,
  /** The reason in words. */
  why: Schema.String,
}) {
  override get message() {
    return `the webhook delivery was refused: ${this.why}`
  }
}

const isBodyRefused = Schema.is(BodyRefused)

interface Place {
  bytes: number
  /** Number of bytes of this body beyond the first 64 KiB. They count toward the limit for all bodies. */
  shared: number
  readonly evicted: Deferred.Deferred<never, BodyRefused>
}

export const make = (limit: ByteSize.ByteSize) => {
  const maxBytes = Number(limit)
  const refuse = (reason: BodyRefused["reason"]) => {
    const { kind, status, why } = refusals[reason]
    return Effect.fail(new BodyRefused({ reason, kind, status, why: why.replace("MAX", ByteSize.format(limit)) }))
  }
  const shared = Math.max(sharedBytes, maxBytes)
  let held = 0
  const places = new Set<Place>()
  const unfinished = new Set<Place>()

  const leave = (place: Place) => {
    places.delete(place)
    unfinished.delete(place)
  }

  const place = Effect.acquireRelease(
    Effect.suspend(() => {
      if (places.size >= maxReaders) {
        const [oldest] = unfinished
        if (oldest === undefined) return refuse("too_many")
        leave(oldest)
        Deferred.doneUnsafe(oldest.evicted, refuse("too_slow"))
      }
      const own: Place = { bytes: 0, shared: 0, evicted: Deferred.makeUnsafe() }
      places.add(own)
      unfinished.add(own)
      return Effect.succeed(own)
    }),
    (place) =>
      Effect.sync(() => {
        leave(place)
        held -= place.shared
      }),
  )

  const readAll = Effect.fnUntraced(function* (request: IncomingBody) {
    const own = yield* place
    const chunks: Array<Uint8Array> = []
    yield* request.stream.pipe(
      Stream.timeoutOrElse({ duration: maxPause, orElse: () => Stream.fromEffect(refuse("too_slow")) }),
      Stream.runForEachArray((some) =>
        Effect.suspend(() => {
          for (const chunk of some) {
            chunks.push(chunk)
            own.bytes += chunk.length
          }
          if (own.bytes > maxBytes) return refuse("too_large")
          const more = Math.max(0, own.bytes - smallBytes) - own.shared
          if (held + more > shared) return refuse("too_many")
          own.shared += more
          held += more
          return Effect.void
        }),
      ),
      Effect.raceFirst(Deferred.await(own.evicted)),
    )
    unfinished.delete(own)
    return Bytes.concat(chunks)
  })

  const accept = Effect.fnUntraced(function* ({ headers }: Pick<IncomingBody, "headers">) {
    // Compressed bodies are refused, because signature schemes do not say whether they cover the compressed bytes.
    const encoding = headers["content-encoding"] ?? "identity"
    if (encoding.trim().toLowerCase() !== "identity") return yield* refuse("encoded")
    if (Number(headers["content-length"] ?? 0) > maxBytes) return yield* refuse("too_large")
  })

  const read = Effect.fnUntraced(
    function* (request: IncomingBody) {
      return yield* Effect.timeoutOrElse(readAll(request), { duration: maxDuration, orElse: () => refuse("too_slow") })
    },
    Effect.catch((error) => (isBodyRefused(error) ? Effect.fail(error) : refuse("broken"))),
  )

  return { accept, read }
}
