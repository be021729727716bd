/** Decodes text that is not UTF-8. Invalid bytes are a failure. */
import { Effect, Result, Stream } from "effect"
import { invalidOption, type SourceError, unreadable } from "../record/SourceError.ts"

type Bytes = Stream.Stream<Uint8Array, SourceError>

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
          onFailure: (cause) => unreadable(name, `not valid ${encoding} (\`encoding\`)`, cause),
        },
      )
    return Stream.mapEffect(bytes, decode).pipe(
      Stream.concat(Stream.fromEffect(Effect.suspend(() => decode(undefined)))),
    )
  })
