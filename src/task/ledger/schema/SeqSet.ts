/** One bit for each `seq` up to the largest: a million items take 125 kB. */
export const make = () => {
  let bits = new Uint8Array(1024)
  return {
    has: (seq: number): boolean => ((bits[Math.floor(seq / 8)] ?? 0) & (1 << (seq % 8))) !== 0,
    add: (seq: number): void => {
      const at = Math.floor(seq / 8)
      if (at >= bits.length) {
        const larger = new Uint8Array(2 * (at + 1))
        larger.set(bits)
        bits = larger
      }
      bits[at]! |= 1 << (seq % 8)
    },
  }
}

/** Combines adjacent numbers. `end` is after the last one. */
export const spansOf = (
  seqs: ReadonlyArray<number>,
): ReadonlyArray<{ readonly first: number; readonly end: number }> => {
  const spans: Array<{ first: number; end: number }> = []
  for (const seq of seqs.toSorted((a, b) => a - b)) {
    const last = spans.at(-1)
    if (last?.end === seq) last.end++
    else spans.push({ first: seq, end: seq + 1 })
  }
  return spans
}
