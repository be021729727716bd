/**
 * Which files were read, and what they held: for a dataset's manifest.
 *
 * Guarantees: a file is reported once it was read to its end, with the size and digest of the bytes that were read. Of a
 * remote file of which only parts were read, its server's version is reported instead of a digest.
 */
import { Context, Effect, Stream } from "effect"
import type { InputFile } from "../../domain/InputFile.ts"
import * as Sha256 from "../../node/Sha256.ts"
import type { Input } from "./Input.ts"

/** Called for each file; none by default. */
export const InputAudit = Context.Reference<((input: InputFile) => void) | undefined>("prefstream/source/InputAudit", {
  defaultValue: () => undefined,
})

/** The same bytes; at their end, the file is reported. */
export const audited =
  (file: string) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
    Stream.unwrap(Effect.map(InputAudit, (report) => (report === undefined ? bytes : digested(file, report)(bytes))))

/** The same bytes, and an effect that reports the file: for bytes that are spooled before their records are read. */
export const auditedLater = (file: string, bytes: Input["bytes"]) => {
  let found: InputFile | undefined
  return {
    bytes: digested(file, (input) => (found = input))(bytes),
    report: Effect.flatMap(InputAudit, (report) =>
      Effect.sync(() => {
        if (found !== undefined) report?.(found)
      }),
    ),
  }
}

/** The same records; at their end, the file is reported with their number, usable or not. */
export const withRecordCount = <A, E, R>(records: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
  Stream.unwrap(
    Effect.map(InputAudit, (report) => {
      if (report === undefined) return records
      let found: InputFile | undefined
      let count = 0
      return records.pipe(
        Stream.mapArray((array) => {
          count += array.length
          return array
        }),
        Stream.provideService(InputAudit, (input) => (found = input)),
        Stream.onEnd(
          Effect.sync(() => {
            if (found !== undefined) report({ ...found, records: count })
          }),
        ),
      )
    }),
  )

/** Reports a file that was read in slices. */
export const reportSliced = Effect.fnUntraced(function* ({ name, size = 0, sliced }: Input) {
  const report = yield* InputAudit
  if (report === undefined || sliced === undefined) return
  if (Stream.isStream(sliced)) yield* Stream.runDrain(digested(name, report)(sliced))
  else report({ file: name, bytes: size, ...sliced })
})

const digested =
  (file: string, report: (input: InputFile) => void) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
    Stream.suspend(() => {
      const digest = Sha256.makeHasher()
      let size = 0
      return bytes.pipe(
        Stream.mapArray((chunks) => {
          for (const chunk of chunks) {
            digest.update(chunk)
            size += chunk.length
          }
          return chunks
        }),
        Stream.onEnd(Effect.sync(() => report({ file, bytes: size, sha256: digest.digest() }))),
      )
    })
