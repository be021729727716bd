/**
 * Votes of two judges and three people on 60 items, planted by a generator: judge `b` errs where `a` does more often than
 * by chance, and prefers the completion that it is shown first. They are records of a vote table.
 */
import * as Random from "../../src/pair/stats/Random.ts"

interface PlantedVote {
  readonly expert: string
  readonly kind: "judge" | "person"
  readonly order: ReadonlyArray<number>
  readonly choice: number | undefined
  readonly details?: object
}

export const records = ({ goldItems = 60, withPeople = true } = {}): ReadonlyArray<object> => {
  const random = Random.make(36)
  const chance = (percent: number) => random.below(100) < percent
  return Array.from({ length: 60 }, (_, i) => {
    const completions = [0, 1].map((side) => `Answer ${side} to ${i}. ${"More. ".repeat(random.below(8))}`)
    const right = random.below(2)
    const isHard = chance(25)
    const order = () => (chance(50) ? [0, 1] : [1, 0])
    const judge = (expert: string, accuracy: number, toFirst: number): PlantedVote => {
      const [shown, believed] = [order(), chance(isHard ? 35 : accuracy) ? right : 1 - right]
      const answers = [shown, shown.toReversed()].map((order) => ({
        order,
        choice: chance(3) ? null : chance(toFirst) ? order[0]! : believed,
        rationale: "",
      }))
      const [one, other] = answers.map(({ choice }) => choice)
      return {
        expert,
        kind: "judge",
        order: shown,
        choice: one === other ? (one ?? undefined) : undefined,
        details: { answers, consistent: one === other },
      }
    }
    const person = (expert: string): PlantedVote => ({
      expert,
      kind: "person",
      order: order(),
      choice: chance(4) ? undefined : chance(isHard ? 60 : 90) ? right : 1 - right,
    })
    const votes = [
      judge("judge:a", 85, 5),
      judge("judge:b", 75, 30),
      ...["ann", "bob", "cem"].slice(0, withPeople ? random.below(4) : 0).map(person),
    ]
    return votes.map(({ choice, details = null, expert, kind, order }, n) => ({
      item_id: `item-${i}`,
      prompt: `Question ${i}?`,
      completions,
      models: i % 3 === 0 ? ["x", "y"] : ["y", "z"],
      expert,
      kind,
      vote: n + 1,
      chosen_index: choice ?? order[0],
      ranking: choice === undefined ? [order] : [[choice], [1 - choice]],
      order,
      all_bad: null,
      aspects: null,
      details,
      gold: i < goldItems ? { best_completion_index: right } : null,
      metadata: { source: i < 40 ? "one" : "two" },
    }))
  }).flat()
}
