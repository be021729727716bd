/** What the tests of places have in common. */
import { Effect, Stream } from "effect"
import type { Input } from "../../../src/source/place/Input.ts"
import { test as shared } from "../support.ts"

/** Bytes of which no piece is like another. */
export const pattern = (length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8) * 17 + (i >> 16) * 7) & 0xff
  return bytes
}

/** As plain bytes, which compare by content alone. */
export const collected = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Effect.Effect<Uint8Array, E, R> =>
  Effect.map(Stream.runCollect(bytes), (pieces) => new Uint8Array(Buffer.concat(pieces)))

export const bytesOf = (input: Input) => collected(input.bytes)

/** The message of the failure that is expected. */
export const failureOf = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

/** With real time, files and sockets; and with no HTTP client around, as the places bring their own. */
export const test = shared.live
