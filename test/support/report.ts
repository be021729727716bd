/**
 * Quality reports for tests: a full one, a minimal one, an empty one, a hostile one, a large one.
 *
 * Their numbers are what a curation measures of votes that are drawn with a fixed seed: so they hang together.
 */
import { Array as Arr, Effect, Stream, Struct } from "effect"
import type { JudgedItem } from "../../src/domain/Judgment.ts"
import type { QualityReport } from "../../src/domain/QualityReport.ts"
import { Threads } from "../../src/node/Thread.ts"
import * as Curation from "../../src/pair/Curation.ts"
import * as Distribution from "../../src/pair/stats/Distribution.ts"
import * as hostileTexts from "./hostile.ts"
import { normal, seeded } from "../pair/stats/support.ts"
import { judgedItem } from "./judged.ts"

const distribution = (values: ReadonlyArray<number>) => {
  const summary = Distribution.make()
  for (const value of values) summary.add(value)
  return summary.distribution()
}

/** The report on these items, after 12 records that were rejected. */
const reportOn = (items: ReadonlyArray<JudgedItem>, options: Curation.CurationOptions = {}): QualityReport => {
  const languageOf = (text: string) => ["en", "en", "en", "de", "fr", "ja", "und"][Number(/\d+/.exec(text)) % 7]!
  const { judged, kept, lost, pairs, ...measured } = Effect.runSync(
    Effect.gen(function* () {
      const { curate, report } = yield* Curation.make(options, { languageOf })
      yield* Stream.runDrain(curate(Stream.fromIterable(items)))
      return yield* report
    }).pipe(Effect.scoped, Effect.provideService(Threads, "never")),
  )
  return {
    ...Struct.omit(measured, ["missing", "repeatedVotes", "short", "unread"]),
    format: "prefstream-report",
    version: 1,
    campaign: null,
    guidelines: null,
    service: null,
    spending: null,
    funnel: [
      { step: "read", unit: "records", count: judged + 12, lost: [] },
      { step: "submitted", unit: "items", count: judged, lost: [{ reason: "rejected", count: 12 }] },
      { step: "judged", unit: "items", count: judged, lost: [] },
      { step: "kept", unit: "items", count: kept, lost },
      { step: "pairs", unit: "pairs", count: pairs, lost: [] },
    ],
    turnaround: distribution([]),
    cross_split_near_duplicates: null,
    split_shares: null,
    split_groups: null,
    splits: kept === 0 ? [] : [{ split: "train", items: kept, pairs }],
  }
}

const promptOf = (i: number): JudgedItem["prompt"] =>
  i % 3 === 0
    ? `How can job ${i} go on where it stopped?`
    : i % 3 === 1
      ? [
          { role: "system", content: "You are a patient tutor. Answer in a few sentences." },
          { role: "user", content: `Why does ice of ${i} degrees float on water?` },
          { role: "assistant", content: "Because solid water is less dense than liquid water." },
          { role: "user", content: "But other solids sink in their own liquid. What is different?" },
        ]
      : `Why did job ${i} stop?\n\n${"Here is the log of the last run, in which it stopped. ".repeat(40)}`

const kinds = ["automatic", "specialist", null]

/** 300 items, three votes each: the first models are better and write more, and the fourth expert guesses. */
const drawnItems = (
  models: ReadonlyArray<string>,
  aspects: ReadonlyArray<string>,
  experts: ReadonlyArray<string | null>,
): ReadonlyArray<JudgedItem> => {
  const random = seeded(7)
  const upTo = (most: number) => Math.floor(random() * most)
  return Arr.makeBy(300, (i) => {
    const ranks = Arr.makeBy(i % 4 === 0 ? 4 : 2, (k) => (i + k) % models.length)
    const completions = ranks.map(
      (rank) => `Answer ${i}. ${"More. ".repeat(20 + upTo(80) + 8 * (models.length - rank))}`,
    )
    const bestOf = (values: ReadonlyArray<number>) => values.indexOf(Math.max(...values))
    const votes = [0, 1, 2].map((v) => {
      const e = (i + v) % experts.length
      const [expert = null, kind = null] = [experts[e], kinds[e % 3]]
      const choice = bestOf(ranks.map((rank) => normal(random) * (e === 3 ? 30 : 1) - rank))
      const shift = upTo(ranks.length)
      return {
        expert,
        ...(kind !== null && { kind }),
        choice,
        order: ranks.map((_, k) => (k + shift) % ranks.length),
        ...(expert !== null && { seconds: 20 + 100 * random() }),
        strength: 1 + upTo(3),
        all_bad: random() < 0.04,
        aspects: Object.fromEntries(aspects.map((name) => [name, ranks.map((_, k) => 1 + upTo(k === choice ? 5 : 3))])),
        ...(random() < 0.2 && { edited: `${completions[choice]!.slice(upTo(20))}More of it.` }),
      }
    })
    const best = bestOf(ranks.map((_, k) => votes.filter(({ choice }) => choice === k).length))
    const annotations = {
      votes,
      ...(i % 3 !== 2 && { rationale: `Answer ${best + 1} of ${i} can be carried out as it stands.` }),
      ...(i % 50 === 0 && { flags: [{ expert: "Ada", kind: i % 100 === 0 ? "unclear_prompt" : "other" }] }),
    }
    return judgedItem(completions, [{ best, annotations }], {
      itemId: `item-${1000 + i * 37}`,
      prompt: promptOf(i),
      models: ranks.map((rank) => models[rank]!),
      isCheck: i % 15 === 0,
      ...(i % 3 < 2 && { gold: { best_completion_index: bestOf(ranks.map((rank) => -rank)) } }),
    })
  })
}

const costs = (kind: string | null, votes: number, cost: string, gold: readonly [votes: number, right: number]) => {
  const [gold_votes, gold_right] = gold
  const perRight = (Number(cost) / votes / (gold_right / gold_votes)).toFixed(4)
  return { kind, votes, cost, gold_votes, gold_right, cost_per_right_vote: perRight, token_cost: null }
}

const filled = (...of: Parameters<typeof drawnItems>): QualityReport => {
  const thresholds = { "longer-chosen": 0.1, contamination: 0, kappa: -1, disagreement: 1 }
  const evaluationPrompts = ["How can job 3 go on where it stopped?"]
  const report = reportOn(drawnItems(...of), { thresholds, evaluationPrompts, drop: ["contamination"] })
  const random = seeded(11)
  return {
    ...report,
    campaign: 3,
    guidelines:
      "Choose the answer that helps the person most. Length alone is no merit. Say why in one or two sentences.",
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
        costs("automatic", 7204, "72.04", [402, 341]),
        costs("specialist", 1604, "4010.00", [198, 189]),
        costs(null, 1004, "401.60", [12, 11]),
      ],
    },
    agreement: {
      ...report.agreement,
      method: "dawid-skene",
      not_majority: [
        { by: "reliability", items: 40 },
        { by: "lead", items: 3 },
      ],
    },
    turnaround: distribution(Arr.makeBy(300, () => 5.2 * 3600 * Math.exp(1.1 * normal(random)))),
    cross_split_near_duplicates: 3,
    split_shares: { train: 0.9, validation: 0.05, test: 0.05 },
    splits: [
      { split: "train", items: 3790, pairs: 11_370 },
      { split: "validation", items: 211, pairs: 633 },
      { split: "test", items: 209, pairs: 627 },
    ],
  }
}

const names = ["Ada", "Bo", "Chidi", "Dolores", "Emeka", "Farah", "Gita", "Hugo", "Ines", "Jun", "Kaya", null]

const models = ["large-2", "large-1", "medium-3", "medium-1", "small-1"]

/** Three votes each, twelve experts, gold items, and limits of which two failed. */
export const full = (): QualityReport => filled(models, ["helpfulness", "truthfulness", "style"], names)

/** One vote each, no gold items, an order that is not known, no limits. */
export const minimal = (): QualityReport => {
  const items = Arr.makeBy(40, (i) =>
    judgedItem([`Answer ${i}`, `Another answer ${i}.`], [{ best: 1 }], {
      itemId: `item-${i}`,
      prompt: promptOf(3 * i),
    }),
  )
  return { ...reportOn(items), position: empty().position, turnaround: distribution([95]), checks: [] }
}

/** Read, but nothing left. */
export const empty = (): QualityReport => ({ ...reportOn([]), checks: [] })

/** Text that no place of a page should be led astray by, in every place that holds text. */
export const hostile = (): QualityReport => {
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
  const base = { ...filled(attacks, [], attacks), ...Struct.pick(filled(models, attacks, names), ["rubric"]) }
  const text = (i: number) => attacks[i % attacks.length]!
  return {
    ...base,
    guidelines: attacks.join("\n"),
    service: `javascript:${text(0)}`,
    spending: base.spending && {
      ...base.spending,
      prices: Object.fromEntries(attacks.map((kind) => [kind, "0.10"])),
      kinds: attacks.map((kind) => costs(kind, 3, "1.20", [2, 1])),
    },
    funnel: base.funnel.map((step, i) => ({
      ...step,
      lost: [...step.lost, ...[...attacks.slice(i, i + 3), "__proto__"].map((reason) => ({ reason, count: 1 }))],
    })),
    flags: { items: 3, kinds: attacks.map((kind) => ({ kind, flags: 1 })) },
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
    languages: attacks.slice(0, 8).map((language, i) => ({ language, items: 100 - i, low: null, high: null })),
    checks: attacks.map((attack, i) => ({
      ...base.checks[0]!,
      check: attack,
      measure: attack,
      advice: attack,
      passed: i % 2 === 0,
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
  const codes =
    "en es fr de it pt nl sv da fi no pl cs sk hu ro bg el tr ru uk ar he fa hi bn ur ta te th vi id ms zh ja ko sw am ka hy"
  const turnOf = (t: number) => ({
    role: t % 2 === 0 ? "user" : "assistant",
    content: `Turn ${t + 1}: ${"and so on, ".repeat(t * 3)}`,
  })
  return {
    ...base,
    guidelines: `${base.guidelines}\n\n${"Read both answers to the end before you choose. ".repeat(400)}`,
    experts: Arr.makeBy(500, (i) => ({
      ...base.experts[i % base.experts.length]!,
      expert: `annotator-${String(i + 1).padStart(4, "0")}@team-${i % 9}.example.org`,
    })),
    languages: codes.split(" ").map((language, i) => ({
      language,
      items: Math.ceil(5_000 / (i + 1) ** 1.6),
      low: 0.4 / (i + 1) ** 1.6,
      high: 0.5 / (i + 1) ** 1.6,
    })),
    position: {
      by_completions: Arr.makeBy(11, (k) => ({
        completions: k + 2,
        chosen: Arr.makeBy(k + 2, (i) => 4000 - 150 * i + 7 * k),
      })),
      first_half: 1_206_289,
      second_half: 1_106_081,
      p_value: 1e-12,
      known: 12_370,
    },
    funnel: base.funnel.map((step) => ({
      ...step,
      count: step.count * 731,
      lost: step.lost.map((lost) => ({ ...lost, count: lost.count * 731 })),
    })),
    checks: Arr.makeBy(30, (i) => ({
      ...base.checks[i % base.checks.length]!,
      check: `${base.checks[i % base.checks.length]!.check}-${i}`,
      examples: Arr.makeBy(40, (j) => ({ item_id: `item-${j}`, detail: `detail ${j}` })),
    })),
    examples: Arr.makeBy(60, (i) => ({
      ...base.examples[i % base.examples.length]!,
      ...(i === 1 && { prompt: Arr.makeBy(40, turnOf) }),
    })),
  }
}
