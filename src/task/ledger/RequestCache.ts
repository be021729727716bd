/**
 * Requests of tasks on their way from planning over sending to matching, in memory, so that they are not read, unpacked, and
 * parsed again. Bounded; what is not here is read from the ledger. When full, it takes no newer request, and the ones that
 * were sent give way first: experts may take weeks.
 */
export interface RequestCache<Question> {
  readonly get: (seq: number) => Question | undefined
  /**
   * Only after the task was committed.
   *
   * @param size UTF-16 units of the body and the items' details
   */
  readonly add: (seq: number, question: Question, size: number) => void
  /** The task was sent: its question is wanted once more, for matching, but perhaps not soon. */
  readonly sent: (seq: number) => void
  readonly drop: (seq: number) => void
}

/** The prompts, which stand in the body once more, are not counted. */
const maxSize = 16 * 1024 * 1024

export const make = <Question>(most: number = maxSize): RequestCache<Question> => {
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
        if (total + size <= most) break
        drop(oldest)
      }
      if (total + size > most) return
      questions.set(seq, { question, size })
      total += size
    },
    sent: (seq) => {
      if (questions.has(seq)) outstanding.add(seq)
    },
    drop,
  }
}
