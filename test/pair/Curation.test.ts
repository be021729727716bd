/** What becomes of judged items: which give pairs, which do not and why, and what is said of all of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import type { JudgedItem } from "../../src/domain/Judgment.ts"
import { Threads } from "../../src/node/Thread.ts"
import type { OwnCheck } from "../../src/pair/Checks.ts"
import * as Curation from "../../src/pair/Curation.ts"
import { fullRanking } from "../../src/pair/PairStrategy.ts"
import { wilsonInterval } from "../../src/domain/Interval.ts"
import { votesOf } from "../../src/pair/votes/ItemVotes.ts"
import * as Reliabilities from "../../src/pair/votes/Reliabilities.ts"
import { judgedItem, type Said } from "../support/judged.ts"
import { seeded } from "./stats/support.ts"
import { words } from "./text/support.ts"
import { column } from "../support/columns.ts"

const languageOf = (text: string) => (text.startsWith("Wie") ? "de" : text.startsWith("?") ? "und" : "en")

const curate = (
  items: ReadonlyArray<JudgedItem>,
  options: Curation.CurationOptions = {},
  reliabilities = Option.none<Reliabilities.Reliabilities>(),
) => {
  const { made, report } = runSync(Curation.make(options, { reliabilities, languageOf }), items)
  return { made: made.map(({ pairs }) => pairs), ...report }
}

const run = Effect.fnUntraced(function* (making: ReturnType<typeof Curation.make>, items: ReadonlyArray<JudgedItem>) {
  const { curate, report } = yield* making
  return { made: yield* Stream.runCollect(curate(Stream.fromIterable(items))), report: yield* report }
}, Effect.scoped)

const runSync = (making: ReturnType<typeof Curation.make>, items: ReadonlyArray<JudgedItem>) =>
  Effect.runSync(Effect.provideService(run(making, items), Threads, "never"))

const checkOf = (report: ReturnType<typeof curate>, name: string) => report.checks.find(({ check }) => check === name)!

const three = ["first answer", "second answer", "third answer, which is longer"]

/** Prompts that do not resemble each other. */
const prompts = [
  "How tall is Mount Everest?",
  "Write a haiku about rain in autumn.",
  "Wie spät ist es in Tokio?",
  "Sort this list: 3, 1, 2",
  "?",
]

const item = (i: number, said: readonly [Said, ...Array<Said>], members: Parameters<typeof judgedItem>[2] = {}) =>
  judgedItem(three, said, { itemId: `item-${i}`, prompt: prompts[i]!, ...members })

describe("an item gives no pair, and is counted,", () => {
  it.each<[Curation.LossReason, ReadonlyArray<Said>, Curation.CurationOptions]>([
    ["too_few_votes", [{ best: 0 }], { minVotes: 2 }],
    ["tie", [{ best: 0 }, { best: 1 }], {}],
    ["low_agreement", [{ best: 0 }, { best: 0 }, { best: 1 }], { minAgreement: 0.7 }],
    ["contamination", [{ best: 0 }], { drop: ["contamination"], evaluationPrompts: ["how tall is mount everest"] }],
    ["flagged", [{ best: 0 }, { best: 0, annotations: { flags: ["odd"] } }], { drop: ["flagged"] }],
    ["no_rationale", [{ best: 0, annotations: { rationale: " " } }], { drop: ["no-rationale"] }],
    ["copied_rationale", [{ best: 0, annotations: { rationale: "First  ANSWER" } }], { drop: ["copied-rationale"] }],
    ["no_pair", [{ best: 0 }], { pairs: () => [] }],
  ])("%s", (reason, [first, ...more], options) => {
    const report = curate([item(0, [first!, ...more])], options)
    assert.deepStrictEqual(report.made, [[]])
    assert.deepStrictEqual(report.lost, [{ reason, count: 1 }])
    assert.strictEqual(report.kept, 0)
    // And gives pairs where that is not asked for.
    assert.strictEqual(curate([item(0, [first!, ...more])], { ties: "keep" }).kept, 1)
  })

  it("tie, where a single vote has all completions at the top", () => {
    const report = curate([item(0, [{ best: 0, annotations: { ranking: [[0, 1, 2]] } }])], {})
    assert.deepStrictEqual(report.lost, [{ reason: "tie", count: 1 }])
  })

  it("near_duplicate, but not where the item that it repeats gave no pair itself", () => {
    const twice = (first: readonly [Said, ...Array<Said>]) => [
      item(0, first),
      item(1, [{ best: 0 }], { prompt: "how tall is  MOUNT EVEREST" }),
    ]
    const report = curate(twice([{ best: 0 }]), { drop: ["near-duplicates"] })
    assert.deepStrictEqual(report.lost, [{ reason: "near_duplicate", count: 1 }])
    assert.strictEqual(checkOf(report, "near-duplicates").value, 0.5)
    assert.deepStrictEqual(curate(twice([{ best: 0 }, { best: 1 }]), { drop: ["near-duplicates"] }).lost, [
      { reason: "tie", count: 1 },
    ])
  })

  it("under the first of several reasons", () => {
    const { lost } = curate([item(0, [{ best: 0 }, { best: 1 }])], { minVotes: 3, drop: ["no-rationale"] })
    assert.deepStrictEqual(lost, [{ reason: "too_few_votes", count: 1 }])
  })
})

describe("flags", () => {
  const flag = { expert: "e1", kind: "harmful_content", comment: "Names a real person." }

  it("of all tasks of an item stand at its pairs and in the report, whatever their shape", () => {
    const shapes = [
      [flag, { kind: "other", severity: 3 }],
      "cut off",
      { expert: { id: 7 }, comment: null },
      true,
      [],
      null,
      false,
    ]
    const report = curate([item(0, [{ best: 0 }, ...shapes.map((flags) => ({ best: 0, annotations: { flags } }))])])
    const expected = [
      flag,
      { severity: 3, expert: null, kind: "other" },
      { expert: null, kind: "cut off" },
      { expert: '{"id":7}', kind: "other" },
      { expert: null, kind: "other" },
    ]
    assert.lengthOf(report.made[0]!, 2)
    for (const { flags } of report.made[0]!) assert.deepStrictEqual(JSON.parse(flags ?? ""), expected)
    assert.deepStrictEqual(report.flags, {
      items: 1,
      kinds: [
        { kind: "other", flags: 3 },
        { kind: "cut off", flags: 1 },
        { kind: "harmful_content", flags: 1 },
      ],
    })
    assert.deepInclude(checkOf(report, "flagged"), { value: 1, count: 1, of: 1, dropped: false })
  })

  it("of one task stand at its pairs, and an item without has none", () => {
    const report = curate([item(0, [{ best: 0, annotations: { flags: [flag] } }]), item(1, [{ best: 0 }])])
    const written = JSON.stringify([flag])
    assert.sameOrderedMembers(column(report.made.flat(), "flags"), [written, written, null, null])
    assert.deepStrictEqual(checkOf(report, "flagged").examples, [
      { item_id: "item-0", detail: "harmful_content (e1): Names a real person." },
    ])
  })
})

describe("the pairs of an item", () => {
  it("carry its votes", () => {
    const [pairs] = curate([item(0, [{ best: 1 }, { best: 1 }, { best: 2 }])]).made
    const common = { agreement: 2 / 3, chosen_index: 1, votes: 3, weight: 0.5 }
    assert.lengthOf(pairs!, 2)
    assert.deepInclude(pairs![0], { ...common, rejected_index: 0, vote_margin: 2 / 3, decided_votes: 2 })
    assert.deepInclude(pairs![1], { ...common, rejected_index: 2, vote_margin: 1 / 3, decided_votes: 3 })
  })

  it("follow reliable experts where votes are weighed", () => {
    const by = (expert: string, best: number): Said => ({ best, annotations: { expert } })
    // Ann and Bob agree on everything; Cid, Dan and Eve choose by chance.
    const shared = Array.from({ length: 60 }, (_, i) =>
      judgedItem(
        three,
        [by("ann", i % 3), by("bob", i % 3), by("cid", (i >> 1) % 3), by("dan", (i >> 2) % 3), by("eve", (i >> 3) % 3)],
        { itemId: `shared-${i}` },
      ),
    )
    const { experts } = curate(shared)
    const reliabilityOf = (name: string) => experts.find(({ expert }) => expert === name)!.reliability!
    assert.isAbove(reliabilityOf("ann"), 0.85)
    assert.isBelow(reliabilityOf("cid"), 0.6)

    const model = Reliabilities.make()
    for (const one of shared) model.add(one, votesOf(one))
    const split = item(0, [by("cid", 0), by("dan", 0), by("eve", 0), by("ann", 1), by("bob", 1)])
    const chosen = (reliabilities: Option.Option<Reliabilities.Reliabilities>) =>
      curate([split], {}, reliabilities).made[0]![0]!.chosen_index
    assert.strictEqual(chosen(Option.none()), 0)
    assert.strictEqual(chosen(Option.some(model.fit())), 1)
  })
})

describe("what is said of the items", () => {
  const gold = { best_completion_index: 1 }
  const items = [
    item(0, [{ best: 0, annotations: { rationale: "Shorter." }, order: [0, 1, 2] }]),
    item(1, [{ best: 2, annotations: { rationale: " shorter." }, order: [2, 0, 1] }]),
    item(2, [{ best: 1, order: [0, 1, 2] }], { gold }),
    item(3, [{ best: 0, order: [1, 2, 0] }], { gold, isCheck: true }),
    item(4, [{ best: 2, annotations: { rationale: "It says more." }, order: [1, 0, 2] }]),
  ]
  const report = curate(items, { thresholds: { "gold-accuracy": 0.6, "no-rationale": 0.25, kappa: 0.4 } })

  it("leaves out those that were mixed in, but for gold and experts", () => {
    assert.deepStrictEqual(report.made[3], [])
    assert.strictEqual(report.judged, 4)
    assert.strictEqual(report.kept, 4)
    assert.deepInclude(report.gold, { mixed_in: 1, in_input: 1, votes: 2, right: 1, accuracy: 0.5 })
    assert.deepStrictEqual(report.gold.wrong, [
      { item_id: "item-3", prompt: prompts[3]!, expected: "second answer", chosen: "first answer", rationale: null },
    ])
    assert.deepInclude(report.experts[0], { expert: null, votes: 5, gold_votes: 2, gold_right: 1, chose_first: 2 })
  })

  it("tells positions, by how many were shown", () => {
    assert.deepStrictEqual(report.position.by_completions, [{ completions: 3, chosen: [2, 1, 1] }])
    assert.deepInclude(report.position, { first_half: 2, second_half: 1, p_value: 1, known: 4 })
  })

  it("counts an item once for the halves of the order, however many votes it has", () => {
    const pair = ["first answer", "second answer"]
    const orders = [
      [0, 1],
      [1, 0],
    ]
    // One order for all votes of an item, as where a service collects several in one task: experts agree, and have no bias.
    const of = (i: number, best: ReadonlyArray<number>) => {
      const [first, ...more] = best.map((best): Said => ({ best, order: orders[i % 2]! }))
      return judgedItem(pair, [first!, ...more], { itemId: `${i}`, prompt: `Number ${i}` })
    }
    const agreed = [0, 2, 4, 6, 8, 10, 1, 3, 5].map((i) => of(i, [0, 0, 0, 0, 0, 0, 0]))
    const { position, ...rest } = curate([...agreed, of(11, [0, 1]), of(12, [1, 1, 0])], {
      thresholds: { "position-bias": 0.05 },
    })
    assert.deepStrictEqual(position, {
      by_completions: [{ completions: 2, chosen: [44, 24] }],
      first_half: 6,
      second_half: 4,
      p_value: position.p_value,
      known: 68,
    })
    // Of 68 independent votes, 44 in one half would be rare (p = 0.02); 6 of 10 items are not.
    assert.closeTo(position.p_value!, 0.754, 0.001)
    assert.deepInclude(
      rest.checks.find(({ check }) => check === "position-bias"),
      { passed: true, count: 6, of: 10, unit: "items" },
    )
  })

  it("holds to thresholds what was found", () => {
    assert.deepInclude(checkOf(report, "gold-accuracy"), { value: 0.5, passed: false })
    assert.deepInclude(checkOf(report, "no-rationale"), { value: 0.25, passed: true, count: 1, of: 4 })
    assert.deepInclude(checkOf(report, "copied-rationale"), { value: 0.25, threshold: null, passed: true })
    assert.deepStrictEqual(checkOf(report, "copied-rationale").examples, [{ item_id: "item-1", detail: "shorter." }])
    assert.deepInclude(checkOf(report, "other-languages"), { value: 1 / 3, count: 1, of: 3 })
    // A threshold is not kept by what has no value.
    assert.deepInclude(checkOf(report, "kappa"), { value: null, passed: false })
  })

  it.each<readonly [of: ReadonlyArray<number | boolean | undefined>, threshold: number | undefined, expected: object]>([
    [[0, 1, 2], 1, { value: 1, count: 2, of: 3, is_share: false, passed: true }],
    [[0, 1, 2], 0.9, { value: 1, count: 2, of: 3, is_share: false, passed: false }],
    [[undefined, false, true], 0.5, { value: 0.5, count: 1, of: 2, is_share: true, passed: true }],
    [[], undefined, { value: null, count: 0, of: 0, is_share: true, passed: true }],
    [[], 1, { value: null, count: 0, of: 0, is_share: true, passed: false }],
  ])("takes the mean of a check of the program: %j with the threshold %j", (of, threshold, expected) => {
    const own: OwnCheck = { name: "own", measure: "m", threshold, valueOf: ({ itemId }) => of[Number(itemId.at(-1))] }
    const report = curate(
      [0, 1, 2].map((i) => item(i, [{ best: 0 }])),
      { checks: [own] },
    )
    assert.deepInclude(checkOf(report, "own"), expected)
  })

  const gone = new Error("the table is gone")
  it.each<readonly [valueOf: () => unknown, problem: string, cause: unknown]>([
    [() => Number.NaN, "returned NaN", undefined],
    [() => Infinity, "returned Infinity", undefined],
    [() => "1", 'returned "1"', undefined],
    [() => Promise.resolve(1), "returned an object", undefined],
    [
      () => {
        throw gone
      },
      "threw an exception: the table is gone",
      gone,
    ],
  ])("fails with the name of a check whose value is no number: %s", (valueOf, problem, cause) => {
    const checks = [{ name: "own", measure: "m", valueOf: valueOf as OwnCheck["valueOf"] }]
    const running = run(Curation.make({ checks }, { reliabilities: Option.none(), languageOf }), [
      item(1, [{ best: 0 }]),
    ])
    const failure = Effect.runSync(Effect.flip(Effect.provideService(running, Threads, "never")))
    assert(failure._tag === "OwnCheckFailed")
    assert.strictEqual(failure.cause, cause)
    assert.include(failure.message, `the check "own" failed for item "item-1": \`valueOf\` ${problem}`)
  })

  it("finds the same agreement in whatever order the completions stand", () => {
    const next = seeded(15)
    const draw = (weights: ReadonlyArray<number>) => {
      let place = next() * weights.reduce((sum, weight) => sum + weight, 0)
      return weights.findIndex((weight) => (place -= weight) < 0)
    }
    const models = ["a", "b", "c", "d", "e"]
    // The first model is the best, and experts mostly see it.
    const votes = Array.from({ length: 300 }, () => Array.from({ length: 6 }, () => draw([60, 15, 10, 10, 5])))
    const agreementOf = (orderOf: (i: number) => ReadonlyArray<number>) => {
      const items = votes.map((choices, i) => {
        const order = orderOf(i)
        const [first, ...more] = choices.map((choice): Said => ({ best: order.indexOf(choice) }))
        const completions = order.map((model) => `${models[model]} ${i}`)
        return judgedItem(completions, [first!, ...more], { itemId: `${i}`, prompt: `${i}` })
      })
      return checkOf(curate(items), "kappa").value!
    }
    const fixed = agreementOf(() => [0, 1, 2, 3, 4])
    assert.strictEqual(
      agreementOf((i) => [0, 1, 2, 3, 4].map((place) => (place + i) % 5)),
      fixed,
    )
    // Two votes agree with probability 0.6² + 0.15² + 2 · 0.1² + 0.05² = 0.405; by chance, with 0.2.
    assert.closeTo(fixed, (0.405 - 0.2) / 0.8, 0.03)
  })

  it("compares an expert's votes with those of the others", () => {
    const by = (expert: string, best: number): Said => ({ best, annotations: { expert } })
    const { experts } = curate([
      // Two against each other: neither is the majority.
      item(0, [by("ann", 0), by("bob", 1)]),
      item(1, [by("ann", 0), by("bob", 1), by("cid", 1), by("dan", 1)]),
      item(2, [by("ann", 2), by("bob", 2), by("cid", 1)]),
      item(3, [by("ann", 0)]),
    ])
    assert.deepStrictEqual(
      experts.map(({ compared, expert, with_others }) => `${expert} ${with_others} of ${compared}`),
      ["ann 0 of 2", "bob 1 of 2", "cid 1 of 2", "dan 1 of 1"],
    )
  })

  it("counts lengths by code points, and the longer chosen among pairs that differ", () => {
    const { length } = curate([
      judgedItem(["😀😀", "abc"], [{ best: 1 }], { prompt: "ab" }),
      judgedItem(["x", "y"], [{ best: 0 }], { itemId: "other", prompt: "Another one altogether" }),
    ])
    assert.deepInclude(length, { longer_chosen: 1, equal: 1, shorter_chosen: 0, share_longer: 1 })
    assert.strictEqual(length.rejected.max, 2)
    assert.strictEqual(length.prompt.min, 2)
  })

  it("counts each item once, however many pairs it has", () => {
    const one = ["a long answer", ..."a b c d e f g h i".split(" ")]
    const { length, checks } = curate([
      judgedItem(one, [{ best: 0 }], { prompt: "One" }),
      judgedItem(["x", "long"], [{ best: 0 }], { itemId: "other", prompt: "Another one altogether" }),
    ])
    assert.closeTo(length.share_longer!, 1 / 2, 1e-12)
    // Chosen 13 and 1, rejected 1 and 4: means 7 and 2.5, squared distances 72 and 4.5.
    assert.closeTo(length.cohens_d!, (7 - 2.5) / Math.sqrt((72 + 4.5) / 2), 1e-12)
    assert.deepInclude(checks[0], { check: "longer-chosen", count: 1, of: 2, unit: "items" })
  })

  it("looks at what is said in a conversation, not at its roles", () => {
    const prompt = [
      { role: "assistant", content: "Wie geht es Ihnen?" },
      { role: "user", content: "Nenne einen Fluss." },
    ] as const
    const copied = { rationale: "nenne einen  fluss." }
    const { languages, checks, length } = curate([item(0, [{ best: 0, annotations: copied }], { prompt })])
    assert.deepStrictEqual(languages, [{ language: "de", items: 1, low: null, high: null }])
    assert.strictEqual(checks.find(({ check }) => check === "copied-rationale")?.value, 1)
    assert.strictEqual(length.prompt.max, prompt[0].content.length + prompt[1].content.length)
  })

  it("tells the interval of a language's share where only a sample was detected", () => {
    const items = Array.from({ length: 200 }, (_, i) => item(i, [{ best: 0 }], { prompt: `Say ${i}.` }))
    const context = { reliabilities: Option.none(), languageOf: () => "en", languageShare: 0.5 }
    const [row] = runSync(Curation.make({}, context), items).report.languages
    assert.isAbove(row!.items, 70)
    assert.isBelow(row!.items, 130)
    assert.deepStrictEqual(row, { language: "en", items: row!.items, ...wilsonInterval(row!.items, row!.items)! })
    assert.isBelow(row!.low!, 1)
  })

  it("needs no context: votes count equally, and no language is detected", () => {
    const { languages } = runSync(Curation.make({}), [item(0, [{ best: 0 }])]).report
    assert.deepStrictEqual(languages, [{ language: "und", items: 1, low: null, high: null }])
  })

  it("counts how models fare against others, each item once", () => {
    const of = (i: number, models: ReadonlyArray<string> | undefined, best: number, ranking?: unknown) =>
      item(i, [{ best, annotations: ranking === undefined ? {} : { ranking } }], { models })
    const { models } = curate(
      [
        // A wins two pairs of two; B and C each lose one.
        of(0, ["A", "B", "C"], 0),
        // B wins one of its two, A both, C none.
        of(1, ["A", "B", "C"], 0, [[0], [1], [2]]),
        // The pair of A with itself says nothing: B wins two.
        of(2, ["A", "A", "B"], 2),
        of(3, undefined, 1),
        // One model alone.
        of(4, ["C", "C", "C"], 0),
      ],
      { pairs: fullRanking },
    )
    assert.deepStrictEqual(models, [
      { model: "A", items: 3, chosen: 4, rejected: 2, win_rate: (1 + 1 + 0) / 3 },
      { model: "B", items: 3, chosen: 3, rejected: 2, win_rate: (0 + 1 / 2 + 1) / 3 },
      { model: "C", items: 2, chosen: 0, rejected: 3, win_rate: 0 },
    ])
  })

  it("counts a text that stands there twice for all who wrote it, and for no position", () => {
    const texts = ["yes", "yes", "no"]
    const of = (itemId: string, best: number) => judgedItem(texts, [{ best }], { itemId, models: ["A", "B", "C"] })
    const { models, position } = curate([of("one", 0), of("two", 1), of("three", 2)])
    assert.deepStrictEqual(models, [
      { model: "A", items: 3, chosen: 2, rejected: 1, win_rate: 2 / 3 },
      { model: "B", items: 3, chosen: 2, rejected: 1, win_rate: 2 / 3 },
      { model: "C", items: 3, chosen: 2, rejected: 4, win_rate: 1 / 3 },
    ])
    assert.deepStrictEqual(position.by_completions, [{ completions: 3, chosen: [0, 0, 1] }])
  })

  it("gives the models with most items, no more than 100", () => {
    const completions = ["a", "b"]
    const items = Array.from({ length: 120 }, (_, i) =>
      judgedItem(completions, [{ best: 0 }], { itemId: `${i}`, prompt: `Number ${i}`, models: ["often", `once ${i}`] }),
    )
    const { models } = curate(items)
    assert.strictEqual(models.length, 100)
    assert.deepStrictEqual(models[0], { model: "often", items: 120, chosen: 120, rejected: 0, win_rate: 1 })
  })

  it("is the same where signatures are computed in a thread", async () => {
    const { text } = words(1)
    const texts = Array.from({ length: 2_600 }, () => text(12))
    const all = [...texts, ...texts.slice(0, 90)]
    const items = all.map((prompt, i) => item(0, [{ best: i % 3 }], { itemId: `item-${i}`, prompt }))
    for (const options of [{}, { drop: ["near-duplicates"] }] satisfies ReadonlyArray<Curation.CurationOptions>) {
      const making = Curation.make(options, { reliabilities: Option.none(), languageOf })
      const inThread = await Effect.runPromise(Effect.provideService(run(making, items), Threads, "always"))
      assert.deepStrictEqual(inThread, runSync(making, items))
      assert.strictEqual(inThread.report.checks.find(({ check }) => check === "near-duplicates")?.count, 90)
    }
  })
})

interface Vote {
  readonly choice: number
  readonly [member: string]: unknown
}

describe("answers to a rubric", () => {
  const judgedBy = (...votes: readonly [Vote, ...Array<Vote>]): [Said] => [
    { best: votes[0].choice, annotations: { votes } },
  ]

  it("are in the report only where a vote has one", () => {
    const report = curate([item(0, [{ best: 0, annotations: { rationale: "It is first." } }])])
    assert.isFalse("rubric" in report)
  })

  it("are counted: strength by outcome, all bad, edits, and aspects by side and model", () => {
    const divided = item(
      0,
      judgedBy(
        { expert: "x", choice: 0, strength: 3, all_bad: false, aspects: { style: [5, 2, null] } },
        {
          expert: "y",
          choice: 0,
          strength: 1,
          all_bad: false,
          edited: "first answer!!",
          aspects: { style: [4, 2, 1] },
        },
        { expert: "z", choice: 1, strength: 2, all_bad: true },
      ),
      { models: ["a", "b", "c"] },
    )
    const unanimous = item(
      1,
      judgedBy({ expert: "x", choice: 1, strength: 3 }, { expert: "y", choice: 1, strength: 3 }),
    )
    // Left out as a tie, but judged.
    const tie = item(2, judgedBy({ expert: "x", choice: 0, all_bad: true }, { expert: "y", choice: 2, all_bad: true }))
    const silent = item(3, [{ best: 0 }])
    const { rubric } = curate([divided, unanimous, tie, silent])
    assert.strictEqual(rubric!.items, 3)
    assert.strictEqual(rubric!.votes, 7)
    const { strength } = rubric!
    assert.deepStrictEqual(strength!.votes.histogram, { edges: [1, 2, 3, 4], counts: [1, 1, 3] })
    assert.strictEqual(strength!.votes.mean, 2.4)
    assert.deepStrictEqual(strength!.by_outcome, [
      { outcome: "unanimous", items: 1, mean: 3 },
      { outcome: "divided", items: 1, mean: 2 },
    ])
    // Of 3 and 1, and of 3 and 3: within 4 * 2 / 1, all of 3, 1, 3, 3 apart 2 * 4 * 3 of 12 pairs.
    assert.closeTo(strength!.krippendorff_alpha!, 1 - 8 / 4 / (24 / 12), 1e-12)
    assert.deepStrictEqual(rubric!.all_bad, { answered: 2, items: 1 })
    assert.strictEqual(rubric!.edited.items, 1)
    assert.strictEqual(rubric!.edited.length_change.mean, 2)
    const [style] = rubric!.aspects
    assert.deepStrictEqual([style!.chosen.count, style!.chosen.mean], [2, 4.5])
    assert.deepStrictEqual([style!.rejected.count, style!.rejected.mean], [3, 5 / 3])
    assert.deepStrictEqual(style!.models, [
      { model: "a", ratings: 2, mean: 4.5 },
      { model: "b", ratings: 2, mean: 2 },
      { model: "c", ratings: 1, mean: 1 },
    ])
  })
})
