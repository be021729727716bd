/**
 * Items go from judges to people: a simulation with planted truth, people of accuracy 0.85, and three judges of accuracy
 * 0.70 to 0.80 with correlated errors and a bias to the first completion. `SHOW=1` prints the table of the guide.
 */
import { assert, describe, it } from "@effect/vitest"
import type { JudgedItem } from "../../../src/domain/Judgment.ts"
import type { ItemVote } from "../../../src/pair/votes/ItemVotes.ts"
import * as Jury from "../../../src/pair/votes/Jury.ts"
import * as NextVotes from "../../../src/pair/votes/NextVotes.ts"
import * as Reliabilities from "../../../src/pair/votes/Reliabilities.ts"
import * as Routing from "../../../src/pair/votes/Routing.ts"
import { cases } from "../../support/cases.ts"
import { normal, seeded } from "../stats/support.ts"

const items = 2000
const people = 12
const accuracyOfPeople = 0.85
/** The judges' share of answers for the completion that is shown first, whatever it says. */
const bias = 0.1
const [judgePrice, personPrice] = [0.005, 0.3]

/**
 * Judges whose answers, apart from the bias, have such accuracies that with it they have those above: the quantiles of the
 * normal distribution at (accuracy − bias / 2) / (1 − bias).
 */
const thresholds = [0.9674, 0.7647, 0.5895]

const voteOf = (expert: string, kind: "judge" | "person", choice: number): ItemVote => ({
  expert,
  kind,
  choice,
  ranking: undefined,
  position: null,
  order: [0, 1],
  seconds: null,
  rationale: null,
})

/** @param correlation of the judges' latent errors on an item */
const planted = (seed: number, correlation: number, goldRate = 0) => {
  const random = seeded(seed)
  const order = Array.from({ length: people }, (_, person) => person)
  return Array.from({ length: items }, (_, i) => {
    const truth = random() < 0.5 ? 0 : 1
    const first = random() < 0.5 ? 0 : 1
    const shared = normal(random)
    const judges = thresholds.map((threshold, judge) => {
      const latent = Math.sqrt(correlation) * shared + Math.sqrt(1 - correlation) * normal(random)
      const answer = latent < threshold ? truth : 1 - truth
      return voteOf(`judge:${judge}`, "judge", random() < bias ? first : answer)
    })
    for (let k = people - 1; k > 0; k--) {
      const other = Math.floor(random() * (k + 1))
      ;[order[k], order[other]] = [order[other]!, order[k]!]
    }
    const persons = order.map((person) =>
      voteOf(`person ${person}`, "person", random() < accuracyOfPeople ? truth : 1 - truth),
    )
    return { i, truth, judges, persons, draw: Math.floor(random() * 2 ** 32), isGold: random() < goldRate }
  })
}

type World = ReturnType<typeof planted>
type Item = World[number]

const judged = ({ isGold, truth }: Item): Pick<JudgedItem, "completions" | "gold"> => ({
  completions: ["one", "two"],
  ...(isGold && { gold: { best_completion_index: truth } }),
})

interface Policy {
  /** For each item that is not gold, whether it is right, and what its votes cost. */
  readonly outcomes: ReadonlyArray<{ readonly right: number; readonly cost: number; readonly votesOfPeople: number }>
}

const policyOf = (of: World, choiceOf: (item: Item) => number, votesOf: (item: Item) => readonly [number, number]) => ({
  outcomes: of.flatMap((item) => {
    if (item.isGold) return []
    const [ofJudges, ofPeople] = votesOf(item)
    const right = choiceOf(item) === item.truth ? 1 : 0
    return [{ right, cost: ofJudges * judgePrice + ofPeople * personPrice, votesOfPeople: ofPeople }]
  }),
})

const mostOf = (votes: ReadonlyArray<ItemVote>) =>
  votes.filter(({ choice }) => choice === 1).length * 2 > votes.length ? 1 : 0

/** Gives each item three votes by judges, and then people's as they are chosen, up to `most` in all. */
const routed = (
  of: World,
  {
    bound,
    confidence = NextVotes.defaultConfidence,
    jury = true,
    most = 6,
  }: {
    readonly bound: number
    readonly confidence?: number
    readonly most?: number
    /** Otherwise judges count as independent experts. */
    readonly jury?: boolean
  },
): Policy => {
  const given = of.map(() => 0)
  const votesOf = ({ i, judges, persons }: Item) => [...judges, ...persons.slice(0, given[i])]
  const numbers = new Map<string | null, number>()
  const numberOf = (name: string | null) => {
    if (!numbers.has(name)) numbers.set(name, numbers.size)
    return numbers.get(name)!
  }
  while (true) {
    const open = of.map((item) => {
      const all = votesOf(item)
      const counted = jury ? Jury.counted(all, true) : all
      return {
        i: item.i,
        draw: item.draw,
        completions: 2,
        isSettled: item.isGold || all.length >= most,
        truth: item.isGold ? item.truth : undefined,
        votes: counted.map(({ choice, expert }) => [numberOf(expert), choice] as const),
        pattern: jury ? numberOf(counted[0]!.expert) : undefined,
        people: given[item.i]! > 0 ? ("voted" as const) : ("none" as const),
      }
    })
    const { atOnce, wanted } = Routing.choose(open, { bound, confidence, waiting: 0 })
    if (wanted.length === 0) break
    for (const { i } of wanted.slice(0, atOnce)) given[i]!++
  }
  const estimate = Reliabilities.make({ jury })
  for (const item of of) estimate.add(judged(item), votesOf(item))
  const { probabilitiesOf } = estimate.fit()
  return policyOf(
    of,
    (item) => {
      const [one, other] = probabilitiesOf(judged(item) as JudgedItem, votesOf(item))
      return other! > one! ? 1 : 0
    },
    ({ i }) => [3, given[i]!],
  )
}

const mean = (numbers: ReadonlyArray<number>) => numbers.reduce((sum, n) => sum + n, 0) / numbers.length

const accuracyOf = ({ outcomes }: Policy) => mean(outcomes.map(({ right }) => right))
const costOf = ({ outcomes }: Policy) => mean(outcomes.map(({ cost }) => cost))

/** The 95% interval of a mean over items, by 1,000 resamples. */
const intervalOf = ({ outcomes }: Policy, valueOf: (outcome: Policy["outcomes"][number]) => number) => {
  const random = seeded(1)
  const values = outcomes.map(valueOf)
  const means = Array.from({ length: 1000 }, () =>
    mean(values.map(() => values[Math.floor(random() * values.length)]!)),
  ).toSorted((a, b) => a - b)
  return [means[25]!, means[974]!] as const
}

/** The majority of the first `n` judges. */
const byJudges = (of: World, n: number) =>
  policyOf(
    of,
    ({ judges }) => mostOf(judges.slice(0, n)),
    () => [n, 0],
  )

/** The majority of the first `n` people. */
const byPeople = (of: World, n: number) =>
  policyOf(
    of,
    ({ persons }) => mostOf(persons.slice(0, n)),
    () => [0, n],
  )

const fixedPolicies = (of: World) => ({
  "the best judge alone": byJudges(of, 1),
  "jury of three, majority": byJudges(of, 3),
  "one person": byPeople(of, 1),
  "three people, majority": byPeople(of, 3),
})

const seeds = Array.from({ length: process.env["SHOW"] === undefined ? cases(2, 4) : 10 }, (_, i) => i + 1)
const correlation = 0.4

describe("Routing", () => {
  it.runIf(process.env["SHOW"] !== undefined)("the table of the guide", { timeout: 1_800_000 }, () => {
    const [low, high] = [0.3, 0.5]
    for (const [correlation, goldRate] of [
      [low, 0],
      [high, 0],
      [high, 0.05],
    ] as const) {
      console.log(
        `correlation ${correlation}, gold ${goldRate}: accuracy [95% of the first seed], cost, mean of ${seeds.length}`,
      )
      const worlds = seeds.map((seed) => planted(seed, correlation, goldRate))
      assert.lengthOf(worlds, seeds.length)
      const show = (name: string, policies: ReadonlyArray<Policy>) => {
        const interval = (valueOf: (outcome: Policy["outcomes"][number]) => number) =>
          intervalOf(policies[0]!, valueOf)
            .map((n) => n.toFixed(3))
            .join("–")
        console.log(
          `${name}: ${mean(policies.map(accuracyOf)).toFixed(3)} [${interval(({ right }) => right)}], ` +
            `${mean(policies.map(costOf)).toFixed(3)} [${interval(({ cost }) => cost)}], lowest ${Math.min(...policies.map(accuracyOf)).toFixed(3)}, ` +
            `to people ${mean(policies.map(({ outcomes }) => mean(outcomes.map(({ votesOfPeople }) => (votesOfPeople > 0 ? 1 : 0))))).toFixed(2)}`,
        )
      }
      const fixed = worlds.map(fixedPolicies)
      for (const name of Object.keys(fixed[0]!) as ReadonlyArray<keyof ReturnType<typeof fixedPolicies>>) {
        show(
          name,
          fixed.map((each) => each[name]),
        )
      }
      for (const most of [6, 7])
        for (const bound of [0.8, 0.9, 0.95]) {
          show(
            `3..${most}, jury<${bound}`,
            worlds.map((of) => routed(of, { bound, most })),
          )
        }
      show(
        "3..6, jury<0.9, confidence 0.9",
        worlds.map((of) => routed(of, { bound: 0.9, confidence: 0.9 })),
      )
      show(
        "3..6, jury<0.9, judges as independent",
        worlds.map((of) => routed(of, { bound: 0.9, jury: false })),
      )
    }
  })

  describe(`${seeds.length} seeds`, () => {
    const worlds = seeds.map((seed) => planted(seed, correlation))

    it("routing has the accuracy of three people for about half of their cost", () => {
      const found = worlds.map((of) => {
        const fixed = fixedPolicies(of)
        const policy = routed(of, { bound: 0.9, confidence: 0.9, most: 7 })
        return {
          gain: accuracyOf(policy) - accuracyOf(fixed["three people, majority"]),
          ofOne: accuracyOf(policy) - accuracyOf(fixed["one person"]),
          ofJury: accuracyOf(policy) - accuracyOf(fixed["jury of three, majority"]),
          cost: costOf(policy) / costOf(fixed["three people, majority"]),
        }
      })
      const details = JSON.stringify(found)
      assert.isAtLeast(mean(found.map(({ gain }) => gain)), -0.01, details)
      assert.isAtMost(mean(found.map(({ cost }) => cost)), 0.5, details)
      for (const { ofJury, ofOne } of found) assert.isAtLeast(Math.min(ofJury, ofOne), 0.05, details)
    })

    it("a jury counts as certain as it is, where judges taken as independent count as more certain", () => {
      const gains = worlds.map(
        (of) => accuracyOf(routed(of, { bound: 0.9 })) - accuracyOf(routed(of, { bound: 0.9, jury: false })),
      )
      assert.isAbove(mean(gains), 0.01, JSON.stringify(gains))
      assert.isAbove(Math.min(...gains), 0, JSON.stringify(gains))
    })
  })
})
