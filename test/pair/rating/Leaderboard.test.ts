/** Ratings from votes whose truth is planted, and from odd ones: nobody compared, nobody lost, nothing but ties. */
import { assert, describe, it } from "@effect/vitest"
import type { Leaderboard as Board } from "../../../src/domain/Leaderboard.ts"
import type { JudgedItem } from "../../../src/domain/Judgment.ts"
import * as Leaderboard from "../../../src/pair/rating/Leaderboard.ts"
import { wilsonInterval } from "../../../src/domain/Interval.ts"
import { votesOf } from "../../../src/pair/votes/ItemVotes.ts"
import { judgedItem, type Said } from "../../support/judged.ts"
import { seeded } from "../stats/support.ts"
import { column } from "../../support/columns.ts"

/** Completions are as long as their letters say: `aaa` is 3. */
const item = (
  models: ReadonlyArray<string>,
  said: readonly [Said, ...Array<Said>],
  completions: ReadonlyArray<string> = models.map((_, i) => `text ${i}`),
) => judgedItem(completions, said, { models })

const rate = (
  items: ReadonlyArray<JudgedItem>,
  options: Leaderboard.LeaderboardOptions = {},
  reliabilityOf?: (expert: string | null) => number | null,
): Board | undefined => {
  const board = Leaderboard.make(reliabilityOf)
  for (const each of items) board.add(each, votesOf(each))
  return board.finish({ resamples: 200, ...options })
}

const times = (count: number, each: JudgedItem) => Array.from({ length: count }, () => each)

const rowOf = (board: Board | undefined, name: string) => board!.models.find(({ model }) => model === name)!

/** The wins, ties and losses of each model, in the order of the board. */
const scores = (board: Board) =>
  board.models.map(({ losses, model, ties, wins }) => `${model} ${wins}-${ties}-${losses}`)

const points = (odds: number) => 400 * Math.log10(odds)

/** Every number of the result, by its path. */
const numbersIn = (value: unknown): ReadonlyArray<number> =>
  typeof value === "number"
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(numbersIn)
      : []

const best = (model: number, order?: ReadonlyArray<number>): Said =>
  order === undefined ? { best: model } : { best: model, order }

const ranked = (...ranking: ReadonlyArray<readonly [number, ...ReadonlyArray<number>]>): Said => ({
  best: ranking[0]![0],
  annotations: { ranking },
})

describe("Leaderboard", () => {
  it("keeps pairs of models apart, however different the lengths are", () => {
    const items = [
      ...times(11, item(["a", "b"], [best(0)])),
      ...times(10, item(["a", "b"], [best(1)])),
      ...times(10, item(["a", "c"], [best(0)])),
      ...times(10, item(["a", "c"], [best(1)])),
      ...times(200, item(["a", "c"], [best(1)], ["", "x".repeat(300)])),
      ...times(1, item(["a", "b"], [best(0)], ["x".repeat(300), ""])),
    ]
    const board = rate(items)!
    assert.deepStrictEqual(scores(board).toSorted(), ["a 22-0-220", "b 10-0-12", "c 210-0-10"])
    assert.strictEqual(board.models[0]!.model, "c")
  })

  it("two models: the odds of the wins, with the weakest prior", () => {
    const items = [...times(30, item(["a", "b"], [best(0)])), ...times(10, item(["a", "b"], [best(1)]))]
    const board = rate(items, { prior: 1000 })!
    assert.closeTo(rowOf(board, "a").rating.value - rowOf(board, "b").rating.value, points(3), 0.001)
    assert.closeTo(rowOf(board, "a").rating.value + rowOf(board, "b").rating.value, 2000, 1e-6)
    assert.deepInclude(rowOf(board, "a"), {
      rank: 1,
      group: 1,
      wins: 30,
      ties: 0,
      losses: 10,
      items: 40,
      extreme: null,
    })
    assert.deepInclude(rowOf(board, "b"), { rank: 2, wins: 10, losses: 30 })
    // p ± 1.96 √(40/39 · p(1 − p)/40), as for single votes.
    const half = 1.959963984540054 * Math.sqrt((0.75 * 0.25) / 39)
    assert.closeTo(rowOf(board, "a").win_rate.low!, 0.75 - half, 1e-12)
    assert.deepStrictEqual(
      [board.votes, board.items, board.comparisons, board.ties, board.groups, board.tie_parameter],
      [40, 40, 40, 0, 1, null],
    )
  })

  it("the best of several beats each of the rest; a ranking compares all, ties included", () => {
    const chosen = rate([item(["a", "b", "c"], [best(1)])])!
    assert.deepStrictEqual(scores(chosen), ["b 2-0-0", "a 0-0-1", "c 0-0-1"])
    const full = rate([item(["a", "b", "c"], [ranked([2], [0, 1])])])!
    assert.deepStrictEqual(scores(full), ["c 2-0-0", "a 0-1-1", "b 0-1-1"])
    assert.deepStrictEqual([full.comparisons, full.ties], [3, 1])
  })

  it("compares neither equal texts nor a model with itself; a text of two models counts for both", () => {
    assert.isUndefined(rate([item(["a", "b"], [best(0)], ["same", "same"])]))
    assert.isUndefined(rate([item(["a", "a"], [best(0)])]))
    const board = rate([item(["a", "b", "c"], [best(0)], ["same", "same", "other"])])!
    assert.deepStrictEqual([rowOf(board, "a").wins, rowOf(board, "b").wins, rowOf(board, "c").losses], [1, 1, 2])
  })

  it("ties: with a probability of their own, as half a win for each, or left out", () => {
    const items = [
      ...times(20, item(["a", "b"], [ranked([0], [1])])),
      ...times(10, item(["a", "b"], [ranked([1], [0])])),
      ...times(30, item(["a", "b"], [ranked([0, 1])])),
    ]
    const difference = (ties: "davidson" | "half" | "drop") => {
      const board = rate(items, { ties, prior: 1000 })!
      return rowOf(board, "a").rating.value - rowOf(board, "b").rating.value
    }
    // Davidson: wins are as 2 to 1, and ν = 30 / √(20 · 10).
    assert.closeTo(difference("davidson"), points(2), 0.001)
    assert.closeTo(rate(items, { prior: 1000 })!.tie_parameter!, 30 / Math.sqrt(200), 1e-5)
    assert.closeTo(difference("half"), points(35 / 25), 0.001)
    assert.closeTo(difference("drop"), points(2), 0.001)
    assert.isNull(rate(items, { ties: "half" })!.tie_parameter)
  })

  it("finds planted abilities within its intervals, about 95% of them", () => {
    const random = seeded(3)
    const abilities = [0.9, 0.3, 0, -0.2, -1]
    const models = abilities.map((_, i) => `model-${i}`)
    const items = Array.from({ length: 3000 }, () => {
      const [i, j] = [Math.floor(random() * 5), Math.floor(random() * 4)]
      const other = j < i ? j : j + 1
      const wins = random() < 1 / (1 + Math.exp(abilities[other]! - abilities[i]!))
      return item([models[i]!, models[other]!], [best(wins ? 0 : 1)])
    })
    const board = rate(items, { resamples: 400 })!
    assert.deepStrictEqual(column(board.models, "model"), models)
    for (const [i, ability] of abilities.entries()) {
      const { high, low, value } = rowOf(board, models[i]!).rating
      const truth = 1000 + (400 / Math.LN10) * ability
      assert.isTrue(low! < value && value < high! && high! - low! > 10 && high! - low! < 60)
      assert.closeTo(value, truth, 30)
    }
    assert.deepStrictEqual(column(board.models, "rank"), [1, 2, 3, 3, 5])
    assert.isAbove(board.top_two!.probability, 0.99)
    assert.strictEqual(board.top_two!.votes_needed, 0)
  })

  it("votes of one item widen intervals as one, not as many", () => {
    const votes = (choice: number) => [best(choice), best(choice), best(choice), best(choice)] as const
    const once = [...times(30, item(["a", "b"], [best(0)])), ...times(20, item(["a", "b"], [best(1)]))]
    const fourTimes = [...times(30, item(["a", "b"], votes(0))), ...times(20, item(["a", "b"], votes(1)))]
    const width = (items: ReadonlyArray<JudgedItem>) => {
      const { high, low } = rowOf(rate(items, { prior: 1000 }), "a").rating
      return high! - low!
    }
    assert.closeTo(width(fourTimes), width(once), 1e-3)
    assert.strictEqual(rate(fourTimes)!.votes, 200)
  })

  it("controls for length: a model that wins by length alone is not better", () => {
    const random = seeded(11)
    const items = Array.from({ length: 4000 }, () => {
      // `long` writes longer texts most of the time; the longer one wins, with odds of e to 1.
      const lengths = [100 + Math.floor(random() * 200), 60 + Math.floor(random() * 160)]
      const x = (lengths[0]! - lengths[1]!) / (lengths[0]! + lengths[1]!)
      const wins = random() < 1 / (1 + Math.exp(-4 * x))
      return item(
        ["long", "short"],
        [best(wins ? 0 : 1)],
        lengths.map((length, i) => (i === 0 ? "x" : "y").repeat(length)),
      )
    })
    const plain = rate(items)!
    assert.isAbove(rowOf(plain, "long").rating.low!, rowOf(plain, "short").rating.high!)
    assert.closeTo(rowOf(plain, "long").rating_at_equal_length!, 1000, 20)
    const controlled = rate(items, { controls: ["length"] })!
    const { high, low, value } = rowOf(controlled, "long").rating
    assert.isTrue(low! < 1000 && high! > 1000)
    assert.strictEqual(value, rowOf(controlled, "long").rating_at_equal_length)
    const [length] = controlled.controls
    assert.strictEqual(length!.control, "length")
    assert.closeTo(length!.coefficient.value / length!.unit, 4, 0.4)
    assert.isTrue(length!.coefficient.low! < length!.coefficient.value)
  })

  it("controls for the position shown", () => {
    const random = seeded(5)
    const items = Array.from({ length: 2000 }, () => {
      const isFirst = random() < 0.8
      // The order decides, with odds of 3 to 1 for the first, and `a` is shown first most of the time.
      const wins = random() < (isFirst ? 0.75 : 0.25)
      return item(["a", "b"], [best(wins ? 0 : 1, isFirst ? [0, 1] : [1, 0])])
    })
    assert.isAbove(rowOf(rate(items), "a").rating.value, 1050)
    const board = rate(items, { controls: ["position"] })!
    assert.closeTo(rowOf(board, "a").rating.value, 1000, 25)
    assert.closeTo(board.controls[0]!.coefficient.value, Math.log(3), 0.2)
  })

  it("weights votes by reliability: (K r − 1) / (K − 1)", () => {
    const by = (expert: string, choice: number): Said => ({ best: choice, annotations: { expert } })
    const items = [
      ...times(20, item(["a", "b"], [by("sure", 0)])),
      ...times(10, item(["a", "b"], [by("sure", 1)])),
      ...times(50, item(["a", "b"], [by("coin", 1)])),
    ]
    const reliabilityOf = (expert: string | null) => (expert === "sure" ? 0.9 : 0.5)
    const board = rate(items, { prior: 1000 }, reliabilityOf)!
    // A coin's votes count 0.
    assert.closeTo(rowOf(board, "a").rating.value - rowOf(board, "b").rating.value, points(2), 0.001)
    assert.isTrue(board.method.weighted)
    assert.isBelow(rowOf(rate(items), "a").rating.value, 1000)
    const weigh = Leaderboard.weightBy((expert) => (expert === null ? null : 0.8))({ completions: ["x", "y", "z"] })
    const vote = { choice: 0, ranking: undefined, position: 0, order: [0, 1, 2], seconds: null, rationale: null }
    assert.closeTo(weigh({ ...vote, expert: "ann" }), (3 * 0.8 - 1) / 2, 1e-12)
    assert.closeTo(weigh({ ...vote, expert: null }), 0.5, 1e-12)
  })

  it("the same votes and seed give the same numbers; another seed gives other intervals of the same fit", () => {
    const items = [...times(30, item(["a", "b"], [best(0)])), ...times(20, item(["b", "a"], [best(0)]))]
    assert.deepStrictEqual(rate(items), rate(items))
    const [one, other] = [rate(items)!, rate(items, { seed: 1 })!]
    assert.strictEqual(rowOf(one, "a").rating.value, rowOf(other, "a").rating.value)
    assert.notStrictEqual(one.top_two!.probability, other.top_two!.probability)
  })
})

describe("odd votes", () => {
  it("no models, or one: no leaderboard", () => {
    assert.isUndefined(rate([judgedItem(["x", "y"], [best(0)])]))
    assert.isUndefined(rate([]))
    assert.isUndefined(rate([item(["a"], [best(0)])]))
  })

  it("one vote: ratings by the prior, without intervals", () => {
    const board = rate([item(["a", "b"], [best(0)])])!
    assert.isTrue(numbersIn(board).every(Number.isFinite))
    assert.deepStrictEqual(
      board.models.map(({ extreme, model, rank }) => `${model} ${rank} ${extreme}`),
      ["a 1 never_lost", "b 1 never_won"],
    )
    assert.deepInclude(rowOf(board, "a").rating, { low: null, high: null })
    assert.deepStrictEqual(rowOf(board, "a").win_rate, { value: 1, low: null, high: null })
    assert.isNull(board.top_two)
  })

  it("nothing but ties: all are equal", () => {
    const board = rate(times(20, item(["a", "b"], [ranked([0, 1])])))!
    assert.isTrue(numbersIn(board).every(Number.isFinite))
    for (const row of board.models) assert.deepStrictEqual([row.rank, row.rating.value], [1, 1000])
    assert.isNull(board.tie_parameter)
    assert.isNull(board.top_two!.votes_needed)
    // Left out, they compare nobody: each model is alone.
    assert.strictEqual(rate(times(20, item(["a", "b"], [ranked([0, 1])])), { ties: "drop" })!.groups, 2)
  })

  it("a model that always wins: a finite rating without an upper bound", () => {
    const items = [
      ...times(40, item(["a", "b"], [best(0)])),
      ...times(20, item(["b", "c"], [best(0)])),
      ...times(20, item(["b", "c"], [best(1)])),
    ]
    const board = rate(items)!
    const a = rowOf(board, "a")
    assert.deepStrictEqual(a.win_rate, { value: 1, ...wilsonInterval(40, 40)! })
    assert.isTrue(Number.isFinite(a.rating.value) && a.rating.low !== null && a.rating.high === null)
    assert.deepStrictEqual(column(board.models, "extreme"), ["never_lost", "never_won", "never_won"])
    // What the rest says of each other has bounds on the other side.
    assert.isNotNull(rowOf(board, "b").rating.high)
    assert.isNull(rowOf(board, "b").rating.low)
  })

  it("models that nobody compared are in groups of their own, the largest first", () => {
    const items = [
      ...times(12, item(["x", "y"], [best(0)])),
      ...times(8, item(["x", "y"], [best(1)])),
      ...times(12, item(["a", "b"], [best(0)])),
      ...times(9, item(["b", "c"], [best(1)])),
      ...times(5, item(["c", "a"], [best(0)])),
    ]
    const board = rate(items)!
    assert.strictEqual(board.groups, 2)
    assert.deepStrictEqual(
      ["a", "b", "c", "x", "y"].map((name) => rowOf(board, name).group),
      [1, 1, 1, 2, 2],
    )
    const mean = (names: ReadonlyArray<string>) =>
      names.reduce((sum, name) => sum + rowOf(board, name).rating.value, 0) / names.length
    assert.closeTo(mean(["a", "b", "c"]), 1000, 1e-6)
    assert.closeTo(mean(["x", "y"]), 1000, 1e-6)
    assert.strictEqual(rowOf(board, "x").rank, 1)
  })

  it("a name per completion: too many models, and none are rated", () => {
    const board = Leaderboard.make()
    for (let i = 0; i < 400; i++) {
      const each = item([`m-${2 * i}`, `m-${2 * i + 1}`], [best(0)])
      board.add(each, votesOf(each))
    }
    assert.isUndefined(board.finish())
  })
})

describe("as votes accrue", () => {
  const said = (i: number): readonly [Said, ...Array<Said>] => [best(i % 3 === 0 ? 1 : 0), best(i % 5 === 0 ? 1 : 0)]
  const items = Array.from({ length: 1000 }, (_, i) => item(["a", "b"], said(i)))

  it("intervals narrow with the root of the votes, as what is said of the next 1,000", () => {
    const { points, ...accrual } = rate(items)!.accrual
    assert.isAtMost(points.length, 48)
    const last = points.at(-1)!
    assert.deepStrictEqual([last.votes, last.items], [2000, 1000])
    assert.strictEqual(accrual.next.factor, Math.sqrt(2000 / 3000))
    const half = points.find((point) => point.items >= 495)!
    const width = (point: typeof last) => point.win_rates[0]!.high! - point.win_rates[0]!.low!
    assert.closeTo(width(last) / width(half), Math.sqrt(half.items / last.items), 0.02)
    assert.deepStrictEqual(accrual.models, ["a", "b"])
    assert.closeTo(last.win_rates[0]!.value + last.win_rates[1]!.value, 1, 1e-12)
  })

  it("agreement is the share of pairs of votes that choose the same", () => {
    const last = rate(items)!.accrual.points.at(-1)!
    const same = items.filter((_, i) => (i % 3 === 0) === (i % 5 === 0)).length
    assert.strictEqual(last.agreement!.value, same / 1000)
    assert.isNull(rate([item(["a", "b"], [best(0)])])!.accrual.points.at(-1)!.agreement)
  })
})
