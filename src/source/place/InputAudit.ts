/** Reports the digest of each file that was read to its end. For a remote file read in slices, reports its version. */
import { Context, Effect, Stream } from "effect"
import type { InputFile } from "../../domain/InputFile.ts"
import * as Sha256 from "../../node/Sha256.ts"
import { defined } from "../../io/Values.ts"
import type { Input } from "./Input.ts"

export const InputAudit = Context.Reference<((input: InputFile) => void) | undefined>("prefstream/source/InputAudit", {
  defaultValue: () => undefined,
})

export const audited =
  (file: string) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
    Stream.unwrap(Effect.map(InputAudit, (report) => (report === undefined ? bytes : withDigest(file, report)(bytes))))

export const auditedLater = (file: string, bytes: Input["bytes"]) => {
  let inputFile: InputFile | undefined
  return {
    bytes: withDigest(file, (input) => (inputFile = input))(bytes),
    report: Effect.flatMap(InputAudit, (report) =>
      Effect.sync(() => {
        if (inputFile !== undefined) report?.(inputFile)
      }),
    ),
  }
}

export const withRecordCount = <A, E, R>(records: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
  Stream.unwrap(
    Effect.map(InputAudit, (report) => {
      if (report === undefined) return records
      let inputFile: InputFile | undefined
      let count = 0
      return records.pipe(
        Stream.mapArray((array) => {
          count += array.length
          return array
        }),
        Stream.provideService(InputAudit, (input) => (inputFile = input)),
        Stream.onEnd(
          Effect.sync(() => {
            if (inputFile !== undefined) report({ ...inputFile, records: count })
          }),
        ),
      )
    }),
  )

export const reportSliced = Effect.fnUntraced(function* ({ name, size = 0, sliced }: Input) {
  const report = yield* InputAudit
  if (report === undefined || sliced === undefined) return
  if (Stream.isStream(sliced)) yield* Stream.runDrain(withDigest(name, report)(sliced))
  else report({ file: name, bytes: size, ...defined({ etag: sliced.etag, last_modified: sliced.last_modified }) })
})

const withDigest =
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
