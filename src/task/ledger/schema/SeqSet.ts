/** A set of `seq` numbers, with one bit for each number up to the largest. A million items take about 125 kB. */
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

/** Combines adjacent numbers into ranges. `end` is the number after the last one of a range. */
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
