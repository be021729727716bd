/** Keeps request bodies in memory from planning to sending. A full cache accepts no more bodies. */
export interface BodyCache {
  readonly get: (seq: number) => Uint8Array | undefined
  /** Adds a request's body to the cache. Call this after the transaction that stores the task has been committed. */
  readonly add: (seq: number, body: Uint8Array) => void
  readonly drop: (seq: number) => void
}

const maxSize = 16 * 1024 * 1024

export const make = (maxBytes: number = maxSize): BodyCache => {
  const bodies = new Map<number, Uint8Array>()
  let total = 0

  const drop = (seq: number) => {
    total -= bodies.get(seq)?.length ?? 0
    bodies.delete(seq)
  }

  return {
    get: (seq) => bodies.get(seq),
    add: (seq, body) => {
      drop(seq)
      if (total + body.length > maxBytes) return
      bodies.set(seq, body)
      total += body.length
    },
    drop,
  }
}
