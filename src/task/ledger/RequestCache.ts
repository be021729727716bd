/**
 * Requests of tasks on their way from planning over sending to matching, in memory, so that they are not read, unpacked, and
 * parsed again. Bounded; other requests are read from the ledger. When full, it drops requests that were sent first, since
 * experts may take weeks, and adds none.
 */
export interface RequestCache<Question> {
  readonly get: (seq: number) => Question | undefined
  /**
   * Only after the task was committed.
   *
   * @param size UTF-16 units of the body and the items' details
   */
  readonly add: (seq: number, question: Question, size: number) => void
  /** The task was sent: its request is needed once more, for matching, perhaps weeks later. */
  readonly sent: (seq: number) => void
  readonly drop: (seq: number) => void
}

/** UTF-16 code units. Parsed prompts, which repeat the body, are not counted. */
const maxSize = 16 * 1024 * 1024

export const make = <Question>(maxUnits: number = maxSize): RequestCache<Question> => {
  const questions = new Map<number, { readonly question: Question; readonly size: number }>()
  const outstanding = new Set<number>()
  let total = 0

  const drop = (seq: number) => {
    const entry = questions.get(seq)
    if (entry === undefined) return
    questions.delete(seq)
    outstanding.delete(seq)
    total -= entry.size
  }

  return {
    get: (seq) => questions.get(seq)?.question,
    add: (seq, question, size) => {
      drop(seq)
      for (const oldest of outstanding) {
        if (total + size <= maxUnits) break
        drop(oldest)
      }
      if (total + size > maxUnits) return
      questions.set(seq, { question, size })
      total += size
    },
    sent: (seq) => {
      if (questions.has(seq)) outstanding.add(seq)
    },
    drop,
  }
}
