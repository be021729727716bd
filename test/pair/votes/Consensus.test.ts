import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Reliabilities from "../../../src/pair/votes/Reliabilities.ts"
import * as Consensus from "../../../src/pair/votes/Consensus.ts"
import { bestAgainstRest, fullRanking } from "../../../src/pair/PairStrategy.ts"
import { marginOf, votesOf } from "../../../src/pair/votes/ItemVotes.ts"
import { flagsIn } from "../../../src/domain/Flag.ts"
import { TaskResult } from "../../../src/domain/Task.ts"
import type { JudgedItem } from "../../../src/domain/Judgment.ts"
import type { PreferencePair } from "../../../src/domain/PreferencePair.ts"
import type { Ranking } from "../../../src/domain/Ranking.ts"
import { judgedItem, type Said } from "../../support/judged.ts"

const abc = ["a", "b", "c"]

const vote = (expert: string, choice: number, ranking?: ReadonlyArray<ReadonlyArray<number>>) => ({
  expert,
  choice,
  order: [2, 0, 1],
  seconds: 3,
  ...(ranking === undefined ? {} : { ranking }),
})

const textsOf = (pairs: ReadonlyArray<PreferencePair>) => pairs.map(({ chosen, rejected }) => `${chosen}>${rejected}`)
const voters = (item: JudgedItem) => votesOf(item).map(({ choice, expert }) => `${expert} ${choice}`)
const outcome = ({ agreement, isTie, judgment }: Consensus.Consensus) => ({
  best: judgment.bestCompletionIndex,
  agreement,
  isTie,
})

describe("a lead's decision", () => {
  const decided = {
    votes: [vote("ann", 1), vote("bob", 1), vote("cleo", 0)],
    decision: { by: "Lea", at: "2026-11-24T12:00:00.000Z" },
  }
  const weights = [0.1, 0.9, 0]

  it("is the judgment, against most votes too, and makes pairs", () => {
    const item = judgedItem(abc, [{ best: 0, annotations: decided }])
    for (const consensus of [Consensus.byMajority(item), Consensus.byProbability(item, weights)]) {
      assert.deepStrictEqual(outcome(consensus), { best: 0, agreement: 1 / 3, isTie: false })
      const pairs = Consensus.withVotes(bestAgainstRest(consensus.judgment), consensus)
      assert.deepStrictEqual(textsOf(pairs), ["a>b", "a>c"])
    }
  })

  it("settles a tie, and counts more than other tasks' results", () => {
    const item = judgedItem(abc, [
      { best: 1, annotations: { votes: [vote("dan", 1)] } },
      { best: 0, annotations: { ...decided, votes: [vote("ann", 1), vote("bob", 0)] } },
    ])
    const { isTie, judgment, votes } = Consensus.byMajority(item)
    assert.deepStrictEqual([judgment.bestCompletionIndex, isTie, votes.length], [0, false, 3])
  })
})

describe("the votes on an item", () => {
  it("are all read from the example in the guide, with its flag", () => {
    const guide = readFileSync(new URL("../../../src/service/README.md", import.meta.url), "utf8")
    const example = /^```json\n(.*?)^```$/ms.exec(guide)?.[1] ?? ""
    const [result] = Schema.decodeUnknownSync(Schema.fromJsonString(TaskResult))(example).results ?? []
    const annotations = result?.annotations ?? {}
    const item = judgedItem(abc, [{ best: result!.best_completion_index!, annotations }])
    const ranking: Ranking = [[1], [0, 2]]
    assert.deepStrictEqual(votesOf(item), [
      {
        expert: "ann",
        choice: 1,
        ranking,
        order: [2, 0, 1],
        position: 2,
        seconds: 41.5,
        rationale: "It names the survey.",
      },
      { expert: "bob", choice: 1, ranking: undefined, order: [0, 1, 2], position: 1, seconds: null, rationale: null },
      { expert: "cleo", choice: 0, ranking: undefined, order: [0, 1, 2], position: 0, seconds: 12, rationale: null },
    ])
    assert.deepStrictEqual(flagsIn(annotations), [
      { expert: "cleo", kind: "unclear_prompt", comment: "With or without snow?" },
    ])
  })

  it("say where a result seems to list several that are not read", () => {
    const several = [
      { expert: "ann", choice: 1 },
      { expert: "bob", choice: 0 },
    ]
    const unread = (annotations: Record<string, unknown>) =>
      votesOf(judgedItem(abc, [{ best: 1, annotations }])).map(({ unread }) => unread)
    assert.deepStrictEqual(unread({ judgments: [{ by: "ann" }, { by: "bob" }] }), ["annotations.judgments"])
    assert.deepStrictEqual(unread({ decisions: several }), ["annotations.decisions"])
    assert.deepStrictEqual(unread({ votes: [...several, { expert: "cleo", choice: 7 }] }), ["annotations.votes"])
    assert.deepStrictEqual(unread({ votes: several, judgments: several }), [undefined, undefined])
    for (const annotations of [
      {},
      { votes: 3, judgments: several.slice(1), ranking: [[1], [0, 2]] },
      {
        spans: [
          { from: 0, to: 7 },
          { from: 9, to: 12 },
        ],
        tags: ["a", "b"],
      },
    ]) {
      assert.deepStrictEqual(unread(annotations), [undefined])
    }
  })

  it("need no more than expert and choice, and have then the order that was sent", () => {
    const votes = [
      { expert: "ann", choice: 1 },
      { expert: "bob", choice: 0 },
    ]
    const item = judgedItem(abc, [{ best: 1, annotations: { votes }, order: [1, 2, 0] }])
    assert.deepStrictEqual(
      votesOf(item).map(({ choice, expert, position, seconds }) => ({ choice, expert, position, seconds })),
      [
        { expert: "ann", choice: 1, position: 0, seconds: null },
        { expert: "bob", choice: 0, position: 2, seconds: null },
      ],
    )
  })

  it.each([
    ["none", undefined],
    ["not a list", "three"],
    ["empty", []],
    ["of no completion", [vote("ann", 3)]],
    ["with an order that lacks one", [{ ...vote("ann", 1), order: [0, 1] }]],
    ["with a ranking that has one twice", [vote("ann", 1, [[1, 1], [0], [2]])]],
    ["with a ranking that has another on top", [vote("ann", 1, [[0], [1], [2]])]],
  ])("are the task's result where its list is %s", (_, votes) => {
    const said = { best: 2, annotations: { votes, expert: "ann", rationale: "R" }, order: [1, 2, 0] }
    assert.deepStrictEqual(votesOf(judgedItem(abc, [said])), [
      { expert: "ann", choice: 2, ranking: undefined, order: [1, 2, 0], position: 1, seconds: null, rationale: "R" },
    ])
  })

  it("of several tasks stand one after the other", () => {
    const item = judgedItem(abc, [
      { best: 0, annotations: { votes: [vote("ann", 0)] } },
      { best: 1 },
      { best: 2, annotations: { votes: [vote("bob", 2), vote("cid", 1)] } },
    ])
    assert.deepStrictEqual(voters(item), ["ann 0", "null 1", "bob 2", "cid 1"])
  })
})

describe("an expert who judged an item several times", () => {
  const by = (expert: string, best: number) => ({ best, annotations: { votes: [vote(expert, best)] } })

  it("has one vote on it, the first, which is nobody else's agreement", () => {
    const item = judgedItem(abc, [by("ann", 0), by("ann", 1), by("ann", 1), by("bob", 0)])
    assert.deepStrictEqual(voters(item), ["ann 0", "bob 0"])
    assert.strictEqual(Consensus.byMajority(item).agreement, 1)
    const { agreement, votes } = Consensus.byMajority(judgedItem(abc, [by("ann", 1), by("ann", 1), by("ann", 1)]))
    assert.deepStrictEqual([votes.length, agreement], [1, null])
  })
})

describe("reliabilities", () => {
  const by = (expert: string, best: number, annotations = {}) => ({ best, annotations: { expert, ...annotations } })

  it("never make best what nobody voted for, however unreliable the experts are", () => {
    const model = Reliabilities.make()
    // Two who agree, and two who contradict them each time.
    const items = Array.from({ length: 200 }, (_, i) =>
      judgedItem(abc, [by("ann", i % 3), by("bob", i % 3), by("cid", (i + 1) % 3), by("dan", (i + 2) % 3)], {
        itemId: `${i}`,
      }),
    )
    for (const item of items) model.add(item, votesOf(item))
    const fit = model.fit()
    assert.isBelow(fit.of("cid")!, 1 / 3)
    const item = judgedItem(abc, [by("cid", 1), by("dan", 1)])
    const probabilities = fit.probabilitiesOf(item)
    assert.deepStrictEqual(probabilities, [0, 1, 0])
    assert.deepInclude(outcome(Consensus.byProbability(item, probabilities)), { best: 1, agreement: 1 })
  })

  it("take nothing from votes that prefer several alike", () => {
    const tied = { ranking: [[0, 1], [2]] }
    const model = Reliabilities.make()
    for (let i = 0; i < 20; i++) {
      const item = judgedItem(abc, [by("ann", 0, tied), by("bob", 1), by("cid", 1)], { itemId: `${i}` })
      model.add(item, votesOf(item))
    }
    const fit = model.fit()
    assert.isNull(fit.of("ann"))
    assert.isAbove(fit.of("bob")!, 0.8)
    assert.deepStrictEqual(fit.probabilitiesOf(judgedItem(abc, [by("ann", 0, tied)])), [1 / 3, 1 / 3, 1 / 3])
  })
})

describe("pairs that more votes contradict than support", () => {
  // Of b, c and d, c has the best mean rank; three of five rank b above it.
  const item = judgedItem(
    ["a", "b", "c", "d"],
    [
      { best: 0, annotations: { ranking: [[0], [1], [2], [3]] } },
      { best: 0, annotations: { ranking: [[0], [1], [2], [3]] } },
      { best: 0, annotations: { ranking: [[0], [1], [2], [3]] } },
      { best: 0, annotations: { ranking: [[0], [2], [3], [1]] } },
      { best: 0, annotations: { ranking: [[0], [2], [3], [1]] } },
    ],
  )

  it("are left out, and the weights of the others add up to 1", () => {
    const consensus = Consensus.byMajority(item)
    const all = fullRanking(consensus.judgment)
    const pairs = Consensus.withVotes(all, consensus)
    const against = all.filter(
      ({ chosen_index, rejected_index }) => marginOf(consensus.votes, chosen_index, rejected_index) < 0,
    )
    assert.isNotEmpty(against)
    assert.strictEqual(pairs.length, all.length - against.length)
    assert.isTrue(pairs.every(({ vote_margin }) => vote_margin! >= 0))
    assert.closeTo(
      pairs.reduce((sum, { weight }) => sum + weight, 0),
      1,
      1e-12,
    )
  })
})

describe("by majority", () => {
  it.each<readonly [string, readonly [Said, ...Array<Said>], ReturnType<typeof outcome>]>([
    [
      "one task's result is what its service says, whatever the votes",
      [{ best: 2, annotations: { votes: [vote("ann", 1), vote("bob", 2), vote("cid", 1)] } }],
      { best: 2, agreement: 1 / 3, isTie: false },
    ],
    [
      "one vote has no agreement, and is no tie where its ranking has two at the top",
      [{ best: 0, annotations: { ranking: [[0, 1], [2]] } }],
      { best: 0, agreement: null, isTie: false },
    ],
    ["two votes against each other are a tie", [{ best: 0 }, { best: 1 }], { best: 0, agreement: 1 / 2, isTie: true }],
  ])("%s", (_, tasks, expected) => {
    assert.deepStrictEqual(outcome(Consensus.byMajority(judgedItem(abc, tasks))), expected)
  })

  it("several tasks' votes are counted, with the rationale of one that was for the choice", () => {
    const consensus = Consensus.byMajority(
      judgedItem(abc, [
        { best: 0, annotations: { rationale: "for a" } },
        { best: 1, annotations: { rationale: " " } },
        { best: 1, annotations: { rationale: "for b" } },
      ]),
    )
    assert.deepStrictEqual(outcome(consensus), { best: 1, agreement: 2 / 3, isTie: false })
    assert.strictEqual(consensus.judgment.annotations.rationale, "for b")
  })

  it("a ranking stands where all rank, and pairs follow from it", () => {
    const [one, other] = [
      [[0], [1], [2]],
      [[0], [2], [1]],
    ].map((ranking) => ({ best: 0, annotations: { ranking } }))
    const { judgment } = Consensus.byMajority(judgedItem(abc, [one!, other!, other!]))
    assert.deepStrictEqual(textsOf(fullRanking(judgment)), ["a>c", "a>b", "c>b"])
    assert.notProperty(Consensus.byMajority(judgedItem(abc, [one!, { best: 0 }])).judgment.annotations, "ranking")
  })

  it("a ranking that the service does not count itself is that of its votes, where each has one", () => {
    const ranks = (...votes: ReadonlyArray<object>) =>
      textsOf(fullRanking(Consensus.byMajority(judgedItem(abc, [{ best: 0, annotations: { votes } }])).judgment))
    assert.deepStrictEqual(ranks(vote("ann", 0, [[0], [2], [1]])), ["a>c", "a>b", "c>b"])
    assert.deepStrictEqual(ranks(vote("ann", 0, [[0], [1], [2]]), vote("bob", 0)), ["a>b", "a>c"])
    // What the service says is best stays so.
    assert.deepStrictEqual(ranks(vote("ann", 1, [[1], [2], [0]])), ["a>b", "a>c", "b>c"])
  })
})

describe("votes whose rankings tie", () => {
  const ann = vote("ann", 0, [[0], [1], [2]])
  const bob = vote("bob", 1, [[1], [0], [2]])
  const tied = [[0, 1], [2]]
  const pairs = (consensus: Consensus.Consensus, strategy = bestAgainstRest) =>
    textsOf(Consensus.withVotes(strategy(consensus.judgment), consensus))

  it.each<readonly [string, JudgedItem]>([
    ["of one task", judgedItem(abc, [{ best: 0, annotations: { votes: [ann, bob] } }])],
    [
      "of one task with their ranking",
      judgedItem(abc, [{ best: 0, annotations: { votes: [ann, bob], ranking: tied } }]),
    ],
    [
      "of several tasks",
      judgedItem(abc, [
        { best: 0, annotations: ann },
        { best: 1, annotations: bob },
      ]),
    ],
  ])("pair the chosen best with all to which a vote prefers it: %s", (_, item) => {
    const majority = Consensus.byMajority(item)
    assert.deepStrictEqual(outcome(majority), { best: 0, agreement: 1 / 2, isTie: true })
    assert.deepStrictEqual(pairs(majority), ["a>b", "a>c"])
    assert.deepStrictEqual(pairs(majority, fullRanking), ["a>b", "a>c", "b>c"])
    assert.deepStrictEqual(pairs(Consensus.byProbability(item, [0.3, 0.65, 0.05])), ["b>a", "b>c"])
    assert.deepStrictEqual(pairs(Consensus.byProbability(item, [0.65, 0.3, 0.05])), ["a>b", "a>c"])
  })

  it("pair a lead's choice with all others, even if no vote prefers it", () => {
    const votes = ["ann", "bob"].map((name) => vote(name, 0, [[0, 1, 2]]))
    const decision = { by: "Lea", at: "2026-11-24T12:00:00.000Z" }
    const item = judgedItem(abc, [{ best: 1, annotations: { votes, decision } }])
    assert.deepStrictEqual(pairs(Consensus.byMajority(item)), ["b>a", "b>c"])
    assert.deepStrictEqual(pairs(Consensus.byMajority(judgedItem(abc, [{ best: 1, annotations: { votes } }]))), [])
  })

  it("pair nothing with an equal that every vote names", () => {
    const item = judgedItem(abc, [{ best: 0, annotations: { votes: [vote("ann", 0, tied), vote("bob", 0, tied)] } }])
    assert.deepStrictEqual(pairs(Consensus.byMajority(item)), ["a>c"])
    assert.deepStrictEqual(pairs(Consensus.byProbability(item, [0.5, 0.4, 0.1])), ["a>c"])
  })
})

describe("completions of the same text", () => {
  const texts = ["yes", "yes", "no"]
  const by = (...choices: readonly [number, ...Array<number>]) => {
    const [first, ...more] = choices.map((best, i): Said => ({ best, annotations: { expert: `expert ${i}` } }))
    return judgedItem(texts, [first!, ...more])
  }

  it("are one choice in a service's list of votes", () => {
    const votes = [vote("ann", 0), vote("bob", 1), vote("cid", 2)]
    const listed = judgedItem(texts, [{ best: 1, annotations: { votes } }])
    assert.deepStrictEqual(outcome(Consensus.byMajority(listed)), { best: 0, agreement: 2 / 3, isTie: false })
  })

  it.each<{ choices: [number, ...Array<number>]; best: number }>([
    { choices: [2, 0, 1], best: 0 },
    { choices: [2, 1, 0], best: 1 },
    { choices: [1, 2], best: 1 },
  ])("have the index of the earliest vote for one of them, and a service's own is no other: %j", (given) => {
    const votes = given.choices.map((choice, i) => vote(`expert ${i}`, choice))
    const listed = [0, 1].map((best) => judgedItem(texts, [{ best, annotations: { votes } }]))
    for (const item of [by(...given.choices), ...listed]) {
      for (const { judgment } of [Consensus.byMajority(item), Consensus.byProbability(item, [1, 0, 0])]) {
        const indices = bestAgainstRest(judgment).map(({ chosen_index }) => chosen_index)
        assert.deepStrictEqual(indices, [given.best])
      }
    }
  })

  it("stand in a service's ranking where one of them is", () => {
    const votes = ["ann", "bob"].map((expert, i) => ({ expert, choice: 1 + i }))
    const annotations = { votes, ranking: [[2], [0], [3], [1]] }
    const listed = judgedItem(["a", "yes", "yes", "b"], [{ best: 2, annotations }])
    assert.deepStrictEqual(textsOf(fullRanking(Consensus.byMajority(listed).judgment)), ["yes>a", "yes>b", "a>b"])
  })

  it("are one choice where votes are weighted", () => {
    const model = Reliabilities.make()
    for (let i = 0; i < 20; i++) model.add(by(0, 1, 0), votesOf(by(0, 1, 0)))
    const fit = model.fit()
    assert.isAbove(fit.of("expert 1")!, 0.9)
    const item = by(0, 1, 2)
    const probabilities = fit.probabilitiesOf(item)
    assert.closeTo(
      probabilities.reduce((sum, probability) => sum + probability, 0),
      1,
      1e-12,
    )
    const { best, ...others } = outcome(Consensus.byProbability(item, probabilities))
    assert.strictEqual(texts[best], "yes")
    assert.deepStrictEqual(others, { agreement: 2 / 3, isTie: false })
  })

  it("make one pair, whose margin counts both", () => {
    const consensus = Consensus.byMajority(by(2, 2, 0, 2, 1))
    for (const strategy of [bestAgainstRest, fullRanking]) {
      const [pair, ...others] = Consensus.withVotes(strategy(consensus.judgment), consensus)
      assert.deepInclude(pair, { chosen: "no", rejected: "yes", vote_margin: 1 / 5, weight: 1 })
      assert.deepStrictEqual(others, [])
    }
  })

  it("stand where the better of them is ranked", () => {
    const ranked = { best: 0, annotations: { ranking: [[0], [2], [1]] } }
    const consensus = Consensus.byMajority(judgedItem(texts, [ranked, ranked]))
    assert.deepStrictEqual(textsOf(fullRanking(consensus.judgment)), ["yes>no"])
    const [alone] = judgedItem(texts, [ranked]).judgments
    assert.lengthOf(fullRanking(alone), 1)
  })
})

describe("by probability", () => {
  const split = judgedItem(abc, [{ best: 0 }, { best: 0 }, { best: 1, annotations: { rationale: "for b" } }])

  it("the most probable is best, though fewer votes are for it", () => {
    const consensus = Consensus.byProbability(split, [0.3, 0.65, 0.05])
    assert.deepStrictEqual(outcome(consensus), { best: 1, agreement: 1 / 3, isTie: false })
    assert.strictEqual(consensus.judgment.annotations.rationale, "for b")
  })

  it("equal ones are a tie, of which the votes' number takes one", () => {
    const consensus = Consensus.byProbability(split, [0.45, 0.45, 0.1])
    assert.deepInclude(outcome(consensus), { best: 0, isTie: true })
  })

  it("a ranking has the best at the top", () => {
    const ranked = judgedItem(abc, [
      { best: 0, annotations: { ranking: [[0], [1], [2]] } },
      { best: 0, annotations: { ranking: [[0, 1], [2]] } },
    ])
    const { judgment } = Consensus.byProbability(ranked, [0.1, 0.8, 0.1])
    assert.deepStrictEqual(judgment.annotations["ranking"], [[1], [0], [2]])
  })
})

describe("the margin of a pair", () => {
  it("counts votes for and against, and those of a ranking by what stands higher", () => {
    const votes = votesOf(
      judgedItem(abc, [
        { best: 0 },
        { best: 1 },
        { best: 2, annotations: { ranking: [[2], [0, 1]] } },
        { best: 0, annotations: { ranking: [[0], [2], [1]] } },
      ]),
    )
    assert.strictEqual(marginOf(votes, 0, 1), (1 - 1 + 0 + 1) / 4)
    assert.strictEqual(marginOf(votes, 2, 1), (0 - 1 + 1 + 1) / 4)
  })
})

describe("what votes say besides the choice", () => {
  const said = (expert: string, choice: number, members: object) => ({ expert, choice, ...members })
  const pairsOf = (...tasks: Parameters<typeof judgedItem>[1]) => {
    const consensus = Consensus.byMajority(judgedItem(abc, tasks))
    return Consensus.withVotes(fullRanking(consensus.judgment), consensus)
  }
  const columns = ({ all_bad, aspects, edited, rejected, strength }: ReturnType<typeof pairsOf>[number]) => ({
    rejected,
    strength,
    all_bad,
    edited,
    aspects: aspects === null ? null : JSON.parse(aspects),
  })

  it("is that of the votes, over the tasks of an item", () => {
    const pairs = pairsOf(
      { best: 1, annotations: { votes: [said("ann", 1, { strength: 3, all_bad: true, edited: "b!" })], strength: 3 } },
      { best: 1, annotations: { expert: "bob", strength: 2, all_bad: true, aspects: { clarity: [1, 5, null] } } },
      { best: 0, annotations: { votes: [said("cleo", 0, { strength: 1, edited: "a!" })] } },
    )
    assert.deepStrictEqual(pairs.map(columns), [
      { rejected: "a", strength: 2.5, all_bad: true, edited: "b!", aspects: { clarity: { chosen: 5, rejected: 1 } } },
      {
        rejected: "c",
        strength: 2.5,
        all_bad: true,
        edited: "b!",
        aspects: { clarity: { chosen: 5, rejected: null } },
      },
    ])
  })

  it("is that of the votes for what a lead decided, with the flags of all tasks: no edit of another completion", () => {
    const votes = [
      said("ann", 1, { strength: 3, edited: "b!", aspects: { clarity: [1, 5, 2] } }),
      said("bob", 0, { strength: 1 }),
    ]
    const [pair] = pairsOf(
      { best: 1, annotations: { votes: votes.slice(0, 1), strength: 3, edited: "b!", flags: ["unsafe"] } },
      // A service may leave the assessment of the votes' best in a decided result.
      { best: 0, annotations: { votes, strength: 3, edited: "b!", decision: { by: "Lea" }, flags: [] } },
    )
    assert.deepStrictEqual(columns(pair!), {
      rejected: "b",
      strength: 1,
      all_bad: null,
      edited: null,
      aspects: { clarity: { chosen: 1, rejected: 5 } },
    })
    assert.deepInclude(pair, { chosen: "a", flags: JSON.stringify([{ expert: null, kind: "unsafe" }]) })
  })

  it("of one task's result stays where its votes say nothing", () => {
    const [pair] = pairsOf({ best: 1, annotations: { strength: 2, votes: [said("ann", 1, {}), said("bob", 1, {})] } })
    assert.strictEqual(pair?.strength, 2)
  })

  it("is of the best only: other pairs of a ranking have no strength and no edit", () => {
    const pairs = pairsOf({
      best: 1,
      annotations: { ranking: [[1], [0], [2]], strength: 1, edited: "b!", aspects: { clarity: [2, 3, 1] } },
    })
    assert.deepStrictEqual(
      pairs.map(({ aspects, chosen, edited, strength }) => [chosen, strength, edited, aspects]),
      [
        ["b", 1, "b!", '{"clarity":{"chosen":3,"rejected":2}}'],
        ["b", 1, "b!", '{"clarity":{"chosen":3,"rejected":1}}'],
        ["a", null, null, '{"clarity":{"chosen":2,"rejected":1}}'],
      ],
    )
  })

  it("of another shape is left out, and the votes are read nevertheless", () => {
    const odd = { strength: "much", all_bad: 1, edited: 7, aspects: [1], flags: { a: 1 }, guidelines_version: "B" }
    const item = judgedItem(abc, [{ best: 1, annotations: { votes: [said("ann", 1, odd), said("bob", 1, {})] } }])
    assert.strictEqual(votesOf(item).length, 2)
    const consensus = Consensus.byMajority(item)
    assert.deepInclude(bestAgainstRest(consensus.judgment)[0], { strength: null, all_bad: null, edited: null })
  })
})
