/** Reads a given number of bytes from a stream of chunks. */
import { type Array, Effect, Pull } from "effect"
import { concat } from "../../../io/RecordBuffer.ts"

export type Chunks<E> = Pull.Pull<Array.NonEmptyReadonlyArray<Uint8Array>, E>

export class ByteReader<E> {
  readonly #pull: Effect.Effect<ReadonlyArray<Uint8Array>, Pull.ExcludeDone<E>>
  #pending: Array<Uint8Array> = []
  #pulledBytes = 0
  #isEnded = false

  constructor(pull: Chunks<E>) {
    this.#pull = Pull.catchDone(pull, () => Effect.succeed([]))
  }

  get pulledBytes(): number {
    return this.#pulledBytes
  }

  readonly chunk: Effect.Effect<Uint8Array | undefined, Pull.ExcludeDone<E>> = Effect.suspend(() => {
    while (this.#pending.length > 0) {
      const chunk = this.#pending.pop()!
      if (chunk.length > 0) return Effect.succeed(chunk)
    }
    if (this.#isEnded) return Effect.undefined
    return Effect.flatMap(this.#pull, (chunks) => {
      this.#isEnded = chunks.length === 0
      for (const chunk of chunks) this.#pulledBytes += chunk.length
      this.#pending = chunks.toReversed()
      return this.chunk
    })
  })

  unread(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#pending.push(bytes)
  }

  readonly take = Effect.fnUntraced(function* (this: ByteReader<E>, count: number) {
    const parts: Array<Uint8Array> = []
    let missing = count
    while (missing > 0) {
      const chunk = yield* this.chunk
      if (chunk === undefined) break
      parts.push(chunk.subarray(0, missing))
      this.unread(chunk.subarray(missing))
      missing -= Math.min(chunk.length, missing)
    }
    return concat(parts, count)
  })
}
