/** Judged items for tests. */
import type { JudgedItem, Judgment } from "../../src/domain/Judgment.ts"
import type { Annotations } from "../../src/domain/Task.ts"

/** What one task says of an item. */
export interface Said {
  readonly best: number
  readonly annotations?: Annotations
  readonly order?: ReadonlyArray<number>
}

/** An item, judged by as many tasks as are said. */
export const judgedItem = (
  completions: ReadonlyArray<string>,
  [first, ...more]: readonly [Said, ...Array<Said>],
  members: Partial<Omit<JudgedItem, "judgments" | "completions">> = {},
): JudgedItem => {
  const item = {
    itemId: "item",
    prompt: "Prompt",
    completions,
    models: undefined,
    metadata: undefined,
    gold: undefined,
    isCheck: false,
    origin: { file: "f", line: 1 },
    ...members,
  }
  const judgment = ({ annotations = {}, best, order }: Said, i: number): Judgment => ({
    ...item,
    taskId: `task-${i + 1}`,
    bestCompletionIndex: best,
    annotations,
    vote: i + 1,
    order: order ?? completions.map((_, index) => index),
  })
  return { ...item, judgments: [judgment(first, 0), ...more.map((said, i) => judgment(said, i + 1))] }
}
