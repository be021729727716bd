/**
 * Which files were read, with what they held: for a dataset's manifest.
 *
 * Guarantees: a file is told once it was read to its end, with the size and the digest of the bytes that
 * were read, and not of those that stand there later. Who reads a file has nothing to do for it.
 */
import { Context, Effect, Stream } from "effect"
import type { InputFile } from "../domain/InputFile.ts"
import * as Sha256 from "../node/Sha256.ts"

/** Who is told; nobody by default. */
export const InputLog = Context.Reference<((input: InputFile) => void) | undefined>("prefstream/source/InputLog", {
  defaultValue: () => undefined,
})

/** The same bytes; at their end, the log is told of the file. */
export const logged =
  (file: string) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
    Stream.unwrap(
      Effect.map(InputLog, (tell) => {
        if (tell === undefined) return bytes
        const digest = Sha256.running()
        let size = 0
        return bytes.pipe(
          Stream.mapArray((chunks) => {
            for (const chunk of chunks) {
              digest.update(chunk)
              size += chunk.length
            }
            return chunks
          }),
          Stream.onEnd(Effect.sync(() => tell({ file, bytes: size, sha256: digest.digest() }))),
        )
      }),
    )
