/**
 * Text in other encodings than UTF-8.
 *
 * Guarantees: what is read in an encoding is a text of it, to the last byte, or a failure. That a text looks
 * like Windows-1252 is a guess: it is for a message, and nothing is read by it.
 */
import { Effect, Result, Stream } from "effect"
import { invalidOption, type SourceError, unreadable } from "../record/SourceError.ts"

type Bytes = Stream.Stream<Uint8Array, SourceError>

/** @param label as the Encoding Standard has it: `windows-1252`, `utf-16le`, `shift_jis` */
export const decoderOf = (label: string): Effect.Effect<(name: string) => (bytes: Bytes) => Bytes, SourceError> =>
  Effect.try({
    try: () => new TextDecoder(label).encoding,
    catch: () => invalidOption("encoding", `expected an encoding such as windows-1252, found ${JSON.stringify(label)}`),
  }).pipe(Effect.map((encoding) => (name) => (bytes) => (encoding === "utf-8" ? bytes : toUtf8(name, encoding, bytes))))

const encoder = new TextEncoder()

const toUtf8 = (name: string, encoding: string, bytes: Bytes): Bytes =>
  Stream.suspend(() => {
    const decoder = new TextDecoder(encoding, { fatal: true })
    const decode = (chunk: Uint8Array | undefined) =>
      Result.match(
        Result.try(() => decoder.decode(chunk, { stream: chunk !== undefined })),
        {
          onSuccess: (text) => Effect.succeed(encoder.encode(text)),
          onFailure: (cause) => unreadable(name, `not valid ${encoding} (--encoding)`, cause),
        },
      )
    return Stream.mapEffect(bytes, decode).pipe(
      Stream.concat(Stream.fromEffect(Effect.suspend(() => decode(undefined)))),
    )
  })

const windows1252 = new TextDecoder("windows-1252")

/**
 * In how many places bytes, of which not all are UTF-8, are letters and signs beyond ASCII as Windows-1252 has them in
 * Western European text: a few at a time, and nothing else. Nought where something of it is UTF-8, or another thing.
 */
export const placesOfWindows1252 = (bytes: Uint8Array): number => {
  let places = 0
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at]! < 0x80) continue
    let end = at + 1
    while (end < bytes.length && bytes[end]! >= 0x80) end++
    const isUtf8 = bytes[at]! >= 0xc2 && bytes[at]! < 0xf5 && end > at + 1 && bytes[at + 1]! < 0xc0
    // No language of the encoding has `ÿ` but in a handful of names, and it is what damage looks like.
    const isText = /^(?:(?!ÿ)[\p{L}\p{P}\p{S}\p{N}\xa0])+$/u.test(windows1252.decode(bytes.subarray(at, end)))
    if (isUtf8 || end - at > 3 || !isText) return 0
    places++
    at = end
  }
  return places
}
