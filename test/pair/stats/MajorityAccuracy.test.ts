import { assert, describe, it } from "@effect/vitest"
import { tally } from "../../../src/domain/Tally.ts"
import * as MajorityAccuracy from "../../../src/pair/stats/MajorityAccuracy.ts"

const alike = (accuracy: number) => [{ accuracy, weight: 1 }]
const accuracy = (p: number, votes: number, completions = 2) =>
  MajorityAccuracy.accuracyOf(MajorityAccuracy.rightVotes(alike(p), votes), completions)
const agreement = (p: number, votes: number, completions = 2) =>
  MajorityAccuracy.agreementOf(MajorityAccuracy.rightVotes(alike(p), votes), completions)

const precision = 1e-12

/** All lists of so many numbers below a bound. */
const lists = (length: number, bound: number): ReadonlyArray<ReadonlyArray<number>> =>
  length === 0
    ? [[]]
    : lists(length - 1, bound).flatMap((list) => Array.from({ length: bound }, (_, next) => [...list, next]))

/** All ordered choices of so many different elements. */
const orders = <A>(all: ReadonlyArray<A>, length: number): ReadonlyArray<ReadonlyArray<A>> =>
  length === 0 ? [[]] : all.flatMap((one, i) => orders(all.toSpliced(i, 1), length - 1).map((rest) => [one, ...rest]))

/** Completion 0 is right: every course of votes, with its probability, counted by `tally`. */
const enumerated = (accuracies: ReadonlyArray<number>, completions: number) => {
  const texts = Array.from({ length: completions }, (_, i) => `text ${i}`)
  const votes = accuracies.length
  let [right, agreeing] = [0, 0]
  for (const choices of lists(votes, completions)) {
    const chance = choices.reduce(
      (product, choice, i) => product * (choice === 0 ? accuracies[i]! : (1 - accuracies[i]!) / (completions - 1)),
      1,
    )
    const { best } = tally(
      texts,
      choices.map((choice) => ({ choice })),
    )
    if (best === 0) right += chance
    const same = choices.flatMap((one, i) => choices.slice(i + 1).filter((other) => one === other)).length
    agreeing += (chance * same) / ((votes * (votes - 1)) / 2)
  }
  return { right, agreeing }
}

describe("MajorityAccuracy", () => {
  it("agrees with all courses of votes, each counted as prefstream counts it", () => {
    for (const [p, completions, maxVotes] of [
      [0.8, 2, 7],
      [0.55, 3, 7],
      [0.2, 3, 6],
      [0.7, 4, 6],
      [0.4, 5, 5],
    ] as const) {
      for (let votes = 1; votes <= maxVotes; votes++) {
        const { agreeing, right } = enumerated(
          Array.from({ length: votes }, () => p),
          completions,
        )
        assert.closeTo(accuracy(p, votes, completions), right, precision)
        if (votes > 1) assert.closeTo(agreement(p, votes, completions), agreeing, precision)
        if (votes > 1)
          assert.closeTo(agreement(p, votes, completions), p ** 2 + (1 - p) ** 2 / (completions - 1), precision)
      }
    }
  })

  it("of experts who differ is the mean over all that may be drawn, in any order, by their weights", () => {
    const voters = [
      { accuracy: 0.95, weight: 5 },
      { accuracy: 0.6, weight: 1 },
      { accuracy: 0.8, weight: 2 },
      { accuracy: 0.3, weight: 3 },
    ]
    for (const completions of [2, 3, 4]) {
      for (const votes of [1, 2, 3, 4]) {
        let [total, right, agreeing] = [0, 0, 0]
        for (const drawn of orders(voters, votes)) {
          const weight = drawn.reduce((product, each) => product * each.weight, 1)
          const found = enumerated(
            drawn.map((each) => each.accuracy),
            completions,
          )
          total += weight
          right += weight * found.right
          agreeing += weight * found.agreeing
        }
        const rights = MajorityAccuracy.rightVotes(voters, votes)
        assert.closeTo(
          rights.reduce((sum, each) => sum + each, 0),
          1,
          precision,
        )
        assert.closeTo(MajorityAccuracy.accuracyOf(rights, completions), right / total, precision)
        if (votes > 1) assert.closeTo(MajorityAccuracy.agreementOf(rights, completions), agreeing / total, precision)
      }
    }
  })

  it("of more votes than experts adds a copy of these: the whole team, and one more of it", () => {
    const [a, b, c] = [0.9, 0.7, 0.6]
    const voters = [a, b, c].map((p) => ({ accuracy: p, weight: 1 }))
    const rights = MajorityAccuracy.rightVotes(voters, 4)
    assert.closeTo(rights[4]!, (a * b * c * (a + b + c)) / 3, precision)
    assert.closeTo(rights[0]!, ((1 - a) * (1 - b) * (1 - c) * (3 - a - b - c)) / 3, precision)
    // Three of different accuracy, by hand: all right, or all but one.
    const three = a * b * c + a * b * (1 - c) + a * (1 - b) * c + (1 - a) * b * c
    assert.closeTo(MajorityAccuracy.accuracyOf(MajorityAccuracy.rightVotes(voters, 3), 2), three, precision)
  })

  it("is finite for many experts of very different weights, many votes, and many completions", () => {
    const voters = Array.from({ length: 2000 }, (_, i) => ({ accuracy: (i % 10) / 10, weight: i === 7 ? 1e9 : 1 }))
    for (const votes of [1, 7, 25]) {
      const rights = MajorityAccuracy.rightVotes(voters, votes)
      assert.closeTo(
        rights.reduce((sum, each) => sum + each, 0),
        1,
        precision,
      )
      for (const completions of [2, 9, 200]) {
        const found = MajorityAccuracy.accuracyOf(rights, completions)
        assert.isTrue(found > 0 && found <= 1, String(found))
      }
    }
    assert.closeTo(accuracy(1, 5), 1, precision)
    assert.closeTo(accuracy(0, 5), 0, precision)
  })
})
