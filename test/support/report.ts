/**
 * Quality reports for tests: a full one, a minimal one, an empty one, a hostile one, a large one.
 *
 * Their numbers are drawn with a fixed seed from distributions like those of real data, and hang
 * together: histograms add up to their counts, votes to those of the experts.
 */
import { Array as Arr, Effect, Option, Struct } from "effect"
import type { ExpertRow, QualityReport } from "../../src/domain/QualityReport.ts"
import * as Assessment from "../../src/domain/Assessment.ts"
import { Threads } from "../../src/node/Thread.ts"
import { checks, isCheckName } from "../../src/pair/Checks.ts"
import * as Curation from "../../src/pair/Curation.ts"
import { bestAgainstRest } from "../../src/pair/PairStrategy.ts"
import * as Leaderboard from "../../src/pair/rating/Leaderboard.ts"
import * as RubricAnswers from "../../src/pair/report/RubricAnswers.ts"
import { wilsonInterval } from "../../src/domain/Interval.ts"
import * as Distribution from "../../src/pair/stats/Distribution.ts"
import * as hostileTexts from "./hostile.ts"
import { normal, seeded } from "../pair/stats/support.ts"
import { judgedItem } from "./judged.ts"

/** Log-normal numbers. */
const logNormal = (random: () => number, n: number, median: number, sigma: number): Array<number> =>
  Array.from({ length: n }, () => median * Math.exp(sigma * normal(random)))

const languages = (items: { readonly [language: string]: number }, isSample = false): QualityReport["languages"] => {
  const all = Object.values(items).reduce((sum, count) => sum + count, 0)
  return Object.entries(items).map(([language, count]) => {
    const interval = isSample ? wilsonInterval(count, all) : null
    return { language, items: count, low: interval?.low ?? null, high: interval?.high ?? null }
  })
}

const voteOf = <M extends object>(expert: number, choice: number, members: M) => ({
  expert: `expert-${expert}`,
  choice,
  position: choice,
  order: [0, 1],
  seconds: null,
  rationale: null,
  ...members,
})

/** Of 600 items, three votes each, on two of the models, of which the first are better. */
const leaderboard = (models: ReadonlyArray<string>): QualityReport["leaderboard"] => {
  const random = seeded(9)
  const board = Leaderboard.make()
  for (let i = 0; i < 600; i++) {
    const a = Math.floor(random() * models.length)
    const b = (a + 1 + Math.floor(random() * (models.length - 1))) % models.length
    const completions = [a, b].map((model) =>
      "word ".repeat(20 + Math.floor(random() * 80) + 8 * (models.length - model)),
    )
    const votes = [0, 1, 2].map((expert) => {
      const choice = random() < 1 / (1 + Math.exp((a - b) / 2)) ? 0 : 1
      const isTie = random() < 0.1
      const ranking = isTie ? [[choice, 1 - choice] as const] : undefined
      return voteOf(expert, choice, { ranking, position: isTie ? null : choice })
    })
    board.add({ completions, models: [models[a]!, models[b]!] }, votes)
  }
  return board.finish({ resamples: 50 }) ?? null
}

const fiveSteps = [1, 2, 3, 4, 5]

/** Of 500 items of two completions, three votes each: the better a completion, the higher its ratings by aspect. */
const rubric = (aspectNames: ReadonlyArray<string>): NonNullable<QualityReport["rubric"]> => {
  const random = seeded(31)
  const answers = RubricAnswers.make()
  const pick = <A>(of: ReadonlyArray<A>, shift: number): A =>
    of[Math.min(of.length - 1, Math.max(0, Math.floor(random() * of.length + shift)))]!
  for (let i = 0; i < 500; i++) {
    const completions = ["A longer answer. ".repeat(1 + Math.floor(random() * 40)), `Another answer ${i}.`]
    const votes = [0, 1, 2].map((expert) => {
      const choice = random() < 0.75 ? 0 : 1
      return voteOf(expert, choice, {
        ranking: undefined,
        strength: pick([1, 2, 3], choice === 0 ? 0.5 : -1),
        all_bad: random() < 0.04,
        aspects: Object.fromEntries(
          aspectNames.map((name, k) => [name, [pick(fiveSteps, 1.2 - k * 0.3), pick(fiveSteps, -0.6)]]),
        ),
      })
    })
    const forFirst = votes.filter(({ choice }) => choice === 0).length
    const [best, other] = forFirst > 1 ? [0, 1] : [1, 0]
    const edited = `${completions[best]!.slice(Math.floor(random() * 20))}${"More of it. ".repeat(Math.floor(random() * 12))}`
    const item = judgedItem(
      completions,
      [{ best, annotations: { ...Assessment.combine(completions, best, votes), ...(random() < 0.2 && { edited }) } }],
      {
        models: ["large-2", "small-1"],
      },
    )
    answers.add(
      {
        judgment: item.judgments[0],
        votes,
        agreement: Math.max(forFirst, 3 - forFirst) / 3,
        by: "majority",
        isMajority: true,
        isTie: false,
      },
      bestAgainstRest(item.judgments[0]).filter(({ rejected_index }) => rejected_index === other),
    )
  }
  return answers.finish()!
}

const distribution = (values: ReadonlyArray<number>) => {
  const summary = Distribution.make()
  for (const value of values) summary.add(value)
  return summary.distribution()
}

const whole = (values: ReadonlyArray<number>) => values.map((value) => Math.max(1, Math.round(value)))

const lengths = (random: () => number, pairs: number): QualityReport["length"] => {
  const prompt = whole(logNormal(random, pairs, 260, 0.9))
  const chosen = whole(logNormal(random, pairs, 980, 0.55))
  const rejected = whole(logNormal(random, pairs, 760, 0.62))
  const differences = chosen.map((length, i) => length - rejected[i]!)
  const longer = differences.filter((difference) => difference > 0).length
  const shorter = differences.filter((difference) => difference < 0).length
  return {
    longer_chosen: longer,
    equal: pairs - longer - shorter,
    shorter_chosen: shorter,
    share_longer: longer / (longer + shorter),
    cohens_d: 0.412,
    difference: distribution(differences),
    prompt: distribution(prompt),
    chosen: distribution(chosen),
    rejected: distribution(rejected),
  }
}

type Counts = Readonly<Record<string, number>>

const units = { read: "records", submitted: "items", judged: "items", kept: "items", pairs: "pairs" } as const

/** @param lost by step, by reason */
const funnel = (
  counts: Readonly<Record<keyof typeof units, number>>,
  lost: Partial<Record<keyof typeof units, Counts>> = {},
): QualityReport["funnel"] =>
  Struct.keys(units).map((step) => ({
    step,
    unit: units[step],
    count: counts[step],
    lost: Object.entries(lost[step] ?? {}).map(([reason, count]) => ({ reason, count })),
  }))

const names = ["Ada", "Bo", "Chidi", "Dolores", "Emeka", "Farah", "Gita", "Hugo", "Ines", "Jun", "Kaya"]

const expertRows = (random: () => number, who: ReadonlyArray<string | null>): ReadonlyArray<ExpertRow> =>
  who.map((expert, i) => {
    const votes = 200 + Math.floor(random() * 1800)
    const compared = Math.floor(votes * 0.92)
    const reliability = i === 3 ? 0.58 : 0.78 + random() * 0.19
    const gold = Math.floor(votes * 0.04)
    return {
      expert,
      token_cost: null,
      votes,
      mixed_in_votes: 0,
      compared,
      with_others: Math.floor(compared * (reliability - 0.02)),
      reliability,
      gold_votes: gold,
      gold_right: Math.floor(gold * reliability),
      kind: expert === null ? null : "person",
      median_seconds: expert === null ? null : 25 + random() * 120,
      ordered: votes,
      chose_first: Math.floor(votes * (i === 3 ? 0.61 : 0.24 + random() * 0.05)),
    }
  })

const examplePrompt =
  "Our nightly job copies 40 GB of logs, and sometimes stops halfway. How can it go on where it stopped?"
const exampleChosen =
  "Record each part when it is done.\n\n1. List the files with their checksums.\n2. Upload each file in parts.\n3. On a restart, skip what is recorded."
const exampleRejected = "You can just use rsync, it will handle everything. If it stops, run it again."

const examples = (n: number): QualityReport["examples"] =>
  Array.from({ length: n }, (_, i) => ({
    prompt:
      i % 3 === 1
        ? [
            { role: "system", content: "You are a patient tutor. Answer in a few sentences." },
            { role: "user", content: "Why does ice float on water?" },
            { role: "assistant", content: "Because solid water is less dense than liquid water." },
            { role: "user", content: "But other solids sink in their own liquid. What is different?" },
          ]
        : i % 3 === 2
          ? `${examplePrompt}\n\n${"Here is the log of the last run, in which it stopped. ".repeat(40)}`
          : examplePrompt,
    chosen:
      i % 3 === 1 ? "Hydrogen bonds hold the molecules of ice at arm’s length, in an open lattice." : exampleChosen,
    rejected: i % 3 === 1 ? "Ice floats because it is cold and cold things are lighter." : exampleRejected,
    rationale: i % 3 === 2 ? null : "The first answer can be carried out as it stands.",
    item_id: `item-${String(1000 + i * 37)}`,
    agreement: i % 3 === 0 ? 1 : 2 / 3,
    votes: 3,
  }))

const check = (
  name: string,
  count: number,
  of: number,
  members: Partial<QualityReport["checks"][number]> = {},
): QualityReport["checks"][number] => ({
  check: name,
  measure: name,
  value: count / of,
  count,
  of,
  unit: "items",
  is_share: isCheckName(name) ? checks[name].isShare : true,
  threshold: null,
  direction: "below",
  advice: isCheckName(name) ? checks[name].advice : name,
  passed: true,
  dropped: false,
  examples: [],
  ...members,
})

/** The votes on gold items by kind of expert, and how many were right. */
const goldKinds = [
  ["automatic", 402, 341],
  ["specialist", 198, 189],
  [null, 12, 11],
] as const

const costs = <M extends object>(kind: string | null, members: M) => {
  const [, gold_votes, gold_right] = goldKinds.find(([name]) => name === kind)!
  return { kind, gold_votes, gold_right, token_cost: null, ...members }
}

/** Three votes each, twelve experts, gold items, and limits of which two failed. */
export const full = (): QualityReport => {
  const random = seeded(7)
  const pairs = 12_630
  const length = lengths(random, pairs)
  const { longer_chosen, shorter_chosen } = length
  const differing = longer_chosen + shorter_chosen
  const compared = 4180
  const unanimous = 2592
  return {
    format: "prefstream-report",
    version: 1,
    campaign: 3,
    guidelines:
      "Choose the answer that helps the person most. Prefer what is correct over what sounds good; length alone is no merit. Say why in one or two sentences.",
    service: "https://annotation.example.org",
    spending: {
      price: "0.40",
      prices: { automatic: "0.01", specialist: "2.50" },
      budget: "5000",
      spent: { votes: 9812, cost: "4483.64" },
      committed: { votes: 120, cost: "300.00" },
      left: { votes: 86, cost: "216.36" },
      over_budget: { items: 31, votes: 93, cost: "232.50" },
      cost_per_pair: "0.9341",
      cost_per_right_vote: "0.5169",
      kinds: [
        costs("automatic", { votes: 7204, cost: "72.04", cost_per_right_vote: "0.0118" }),
        costs("specialist", { votes: 1604, cost: "4010.00", cost_per_right_vote: "2.6190" }),
        costs(null, { votes: 1004, cost: "401.60", cost_per_right_vote: "0.4364" }),
      ],
    },
    funnel: funnel(
      { read: 5000, submitted: 4655, judged: 4402, kept: 4210, pairs },
      {
        submitted: { duplicate: 312, rejected: 33 },
        judged: { waiting: 253 },
        kept: { tie: 61, near_duplicate: 84, contamination: 12, low_agreement: 35 },
        pairs: { "identical completions": 44 },
      },
    ),
    agreement: {
      votes_per_item: [
        { votes: 1, items: 30 },
        { votes: 2, items: 118 },
        { votes: 3, items: 4062 },
      ],
      items: compared,
      unanimous,
      ties: 61,
      mean_agreement: (unanimous + (compared - unanimous) * (2 / 3)) / compared,
      agreement: {
        edges: Arr.makeBy(11, (i) => i / 10),
        counts: Arr.makeBy(10, (i) => (i === 9 ? unanimous : i === 6 ? compared - unanimous : 0)),
      },
      free_marginal_kappa: 0.712,
      krippendorff_alpha: 0.341,
      compared_items: 4102,
      method: "dawid-skene",
      not_majority: [
        { by: "reliability", items: 40 },
        { by: "lead", items: 3 },
      ],
    },
    experts: expertRows(random, [...names, null]),
    model_count: 2,
    models: [
      { model: "large-2", items: 2401, chosen: 1802, rejected: 703, win_rate: 0.7134 },
      { model: "small-1", items: 2399, chosen: 690, rejected: 1795, win_rate: 0.2801 },
    ],
    leaderboard: leaderboard(["large-2", "large-1", "medium-3", "medium-1", "small-1"]),
    gold: {
      mixed_in: 210,
      in_input: 0,
      results: 612,
      votes: 612,
      right: 541,
      kinds: goldKinds.map(([kind, votes, right]) => ({ kind, results: votes, votes, right })),
      accuracy: 541 / 612,
      low: 0.856,
      high: 0.907,
      wrong_items: 14,
      wrong: [
        {
          item_id: "gold-17",
          prompt: "How many minutes are there in a week?",
          expected: "10,080: 7 days of 24 hours of 60 minutes.",
          chosen: "There are 10,800 minutes in a week, since each day has 1,440 minutes.",
          rationale: "It shows how it comes to the number.",
        },
        {
          item_id: "gold-40",
          prompt: [
            { role: "system", content: "Answer in one word." },
            { role: "user", content: "What is the capital of Australia?" },
          ],
          expected: "Canberra",
          chosen: "Sydney",
          rationale: null,
        },
      ],
    },
    position: {
      by_completions: [
        { completions: 2, chosen: [512, 488] },
        { completions: 4, chosen: [2976, 2801, 2822, 2771] },
      ],
      first_half: 2163,
      second_half: 2041,
      p_value: 0.062,
      known: 12_370,
    },
    length,
    turnaround: distribution(logNormal(random, 620, 5.2 * 3600, 1.1)),
    vote_seconds: distribution(logNormal(random, 12_370, 58, 0.8)),
    languages: languages({ en: 3611, de: 281, fr: 164, ja: 88, und: 66 }),
    checks: [
      check("disagreement", 61, 4402, { threshold: 0.05, dropped: true }),
      check("longer-chosen", longer_chosen, differing, {
        unit: "pairs",
        threshold: 0.6,
        passed: false,
        examples: [
          { item_id: "item-1036", detail: "chosen 2,941 characters, rejected 212" },
          { item_id: "item-2210", detail: "chosen 3,018 characters, rejected 334" },
        ],
      }),
      check("length-effect", pairs, pairs, { unit: "pairs", value: 0.412, threshold: 0.5 }),
      check("position-bias", 2163, 4204, { unit: "items", value: 0.062 }),
      check("near-duplicates", 84, 4402, { threshold: 0.05, dropped: true }),
      check("contamination", 12, 4402, {
        threshold: 0,
        passed: false,
        dropped: true,
        examples: [{ item_id: "item-88", detail: "13 words in a row as in MT-Bench question 101" }],
      }),
      check("no-rationale", 309, 12_370, { unit: "votes", threshold: 0.1 }),
      check("kappa", 4180, 4210, { value: 0.712, threshold: 0.6, direction: "above" }),
    ],
    rankings: { ranked_items: 3981, unranked_items: 42 },
    flags: {
      items: 21,
      kinds: [
        { kind: "unclear_prompt", flags: 14 },
        { kind: "other", flags: 9 },
      ],
    },
    rubric: rubric(["helpfulness", "truthfulness", "style"]),
    cross_split_near_duplicates: 3,
    split_shares: { train: 0.9, validation: 0.05, test: 0.05 },
    split_groups: null,
    splits: [
      { split: "train", items: 3790, pairs: 11_370 },
      { split: "validation", items: 211, pairs: 633 },
      { split: "test", items: 209, pairs: 627 },
    ],
    examples: examples(12),
  }
}

/** One vote each, no gold items, an order that is not known, no limits. */
export const minimal = (): QualityReport => {
  const random = seeded(11)
  const nothing = {
    compared: 0,
    with_others: 0,
    reliability: null,
    gold_votes: 0,
    gold_right: 0,
    ordered: 0,
    chose_first: 0,
  }
  const experts = expertRows(() => 0, [null]).map((row) => ({ ...row, votes: 40, ...nothing }))
  return {
    ...empty(),
    funnel: funnel({ read: 40, submitted: 40, judged: 40, kept: 40, pairs: 40 }),
    agreement: { ...empty().agreement, votes_per_item: [{ votes: 1, items: 40 }] },
    experts,
    length: { ...lengths(random, 40), cohens_d: 0.12 },
    turnaround: distribution([95]),
    languages: languages({ en: 40 }),
    rankings: { ranked_items: 0, unranked_items: 40 },
    flags: { items: 0, kinds: [] },
    cross_split_near_duplicates: null,
    split_shares: null,
    split_groups: null,
    splits: [{ split: "train", items: 40, pairs: 40 }],
    examples: examples(1).map((example) => ({ ...example, votes: 1, agreement: null, rationale: null })),
  }
}

/** Read, but nothing left. */
export const empty = (): QualityReport => {
  const curation = Curation.make({}, { reliabilities: Option.none(), languageOf: () => "und" })
  const counts = Effect.flatMap(curation, ({ report }) => report).pipe(
    Effect.scoped,
    Effect.provideService(Threads, "never"),
    Effect.runSync,
  )
  return {
    ...Struct.omit(counts, ["judged", "kept", "lost", "pairs", "repeatedVotes", "unread"]),
    format: "prefstream-report",
    version: 1,
    campaign: null,
    guidelines: null,
    service: null,
    spending: null,
    funnel: funnel({ read: 12, submitted: 0, judged: 0, kept: 0, pairs: 0 }, { submitted: { rejected: 12 } }),
    turnaround: distribution([]),
    checks: [],
    cross_split_near_duplicates: null,
    split_shares: null,
    split_groups: null,
    splits: [],
  }
}

/** Text that no place of a page should be led astray by, in every place that holds text. */
export const hostile = (): QualityReport => {
  const base = full()
  const attacks = [
    ...hostileTexts.all,
    "</script><script>window.prefstream_attacked=1</script>",
    "<!--<script>",
    "]]>\u2028\u2029$&$`$'$$",
    "\u202Eevil\u2066\u2067 \u200F\u061C right to left",
    "lone \uD800 high, \uDC00 low",
    "x".repeat(10_000),
    "a word ".repeat(14_000),
    "\n".repeat(2000),
    "",
    " ",
    "__proto__",
    "constructor",
  ]
  const text = (i: number) => attacks[i % attacks.length]!
  return {
    ...base,
    guidelines: attacks.join("\n"),
    service: `javascript:${text(0)}`,
    spending: base.spending && {
      ...base.spending,
      prices: Object.fromEntries(attacks.map((kind) => [kind, "0.10"])),
      kinds: attacks.map((kind, i) => ({ ...base.spending!.kinds[i % 3]!, kind })),
    },
    funnel: base.funnel.map((step, i) => ({
      ...step,
      lost: [
        ...step.lost,
        ...attacks.slice(i, i + 3).map((reason) => ({ reason, count: 1 })),
        { reason: "__proto__", count: 1 },
      ],
    })),
    experts: base.experts.map((row, i) => ({ ...row, expert: text(i * 7) })),
    leaderboard: leaderboard(attacks),
    rubric: rubric(attacks),
    flags: { items: 3, kinds: attacks.map((kind) => ({ kind, flags: 1 })) },
    model_count: attacks.length,
    models: attacks.map((model) => ({ model, items: 3, chosen: 2, rejected: 1, win_rate: 2 / 3 })),
    gold: {
      ...base.gold,
      wrong_items: attacks.length,
      wrong: attacks.map((attack, i) => ({
        item_id: attack,
        prompt: attack,
        expected: text(i + 1),
        chosen: text(i + 2),
        rationale: text(i + 3),
      })),
    },
    languages: languages(Object.fromEntries(attacks.slice(0, 8).map((language, i) => [language, 100 - i]))),
    checks: attacks.map((attack, i) => ({
      ...check(attack, 10, 100, { passed: i % 2 === 0 }),
      examples: [{ item_id: attack, detail: attack }],
    })),
    examples: attacks.map((attack, i) => ({
      prompt: i % 2 === 0 ? attack : [{ role: attack, content: attack }],
      chosen: text(i + 1),
      rejected: text(i + 2),
      rationale: text(i + 3),
      item_id: attack,
      agreement: 1,
      votes: 3,
    })),
  }
}

/** Five hundred experts, forty languages, items of 2 to 12 completions, many examples and checks. */
export const large = (): QualityReport => {
  const base = full()
  const random = seeded(23)
  const codes =
    "en es fr de it pt nl sv da fi no pl cs sk hu ro bg el tr ru uk ar he fa hi bn ur ta te th vi id ms zh ja ko sw am ka hy"
  return {
    ...base,
    guidelines: `${base.guidelines}\n\n${"Read both answers to the end before you choose. ".repeat(400)}`,
    experts: expertRows(
      random,
      Array.from({ length: 500 }, (_, i) => `annotator-${String(i + 1).padStart(4, "0")}@team-${i % 9}.example.org`),
    ),
    languages: languages(
      Object.fromEntries(codes.split(" ").map((language, i) => [language, Math.ceil(5_000 / (i + 1) ** 1.6)])),
      true,
    ),
    position: {
      ...base.position,
      by_completions: Array.from({ length: 11 }, (_, k) => ({
        completions: k + 2,
        chosen: Array.from({ length: k + 2 }, (_, i) => Math.round((4000 - 150 * i) * (1 + random() * 0.1))),
      })),
      first_half: 1_206_289,
      second_half: 1_106_081,
      p_value: 1e-12,
    },
    funnel: base.funnel.map((step) => ({
      ...step,
      count: step.count * 731,
      lost: step.lost.map((lost) => ({ ...lost, count: lost.count * 731 })),
    })),
    checks: Array.from({ length: 30 }, (_, i) => ({
      ...base.checks[i % base.checks.length]!,
      check: `${base.checks[i % base.checks.length]!.check}-${i}`,
      examples: Array.from({ length: 40 }, (_, j) => ({ item_id: `item-${j}`, detail: `detail ${j}` })),
    })),
    examples: examples(60).map((example, i) =>
      i === 1
        ? {
            ...example,
            prompt: Arr.makeBy(40, (t) => ({
              role: t % 2 === 0 ? "user" : "assistant",
              content: `Turn ${t + 1}: ${"and so on, ".repeat(t * 3)}`,
            })),
          }
        : example,
    ),
  }
}
