/** An expert's entry for one item. Changing the mode loses neither the choice nor the ranking. */
import type { Draft, HeldItem, Submission } from "../../pageApi/AnnotateApi.ts"
import * as ranking from "./ranking.ts"

export type Mode = Draft["mode"]

export interface Entry {
  readonly mode: Mode
  readonly best: number | null
  readonly ranks: ranking.Ranks
  readonly rationale: string
  readonly said: Said
}

/** The answers to the rubric. An edit counts only while the edited completion is the best. */
type Said = NonNullable<Draft["assessment"]>

const nothingSaid: Required<Said> = { strength: null, all_bad: false, flags: [], edit: null, aspects: {} }

export const open = (item: HeldItem, draft: Draft | null, mode: Mode): Entry => {
  const count = item.completions.length
  if (draft === null) return { mode, best: null, ranks: ranking.none(count), rationale: "", said: nothingSaid }
  return {
    mode: draft.mode,
    best: draft.best !== null && draft.best < count ? draft.best : null,
    ranks: ranking.fromDraft(draft.ranking, count),
    rationale: draft.rationale,
    said: { ...nothingSaid, ...draft.assessment },
  }
}

export const toDraft = (entry: Entry, seconds: number): Draft => ({
  mode: entry.mode,
  best: entry.best,
  ranking: ranking.toDraft(entry.ranks),
  rationale: entry.rationale,
  seconds,
  ...(saysNothing(entry.said) ? {} : { assessment: entry.said }),
})

const saysNothing = (answers: Said): boolean =>
  JSON.stringify(answers) === JSON.stringify({ ...answers, ...nothingSaid })

export const bestOf = (entry: Entry): number | null => {
  if (entry.mode === "best") return entry.best
  const [first] = ranking.groups(entry.ranks)
  return first === undefined ? null : Math.min(...first)
}

export const editOf = (entry: Entry): string | null => {
  const { edit } = entry.said
  return edit !== null && edit.place === bestOf(entry) ? edit.text : null
}

const say = (entry: Entry, changes: Partial<Said>): Entry => ({ ...entry, said: { ...entry.said, ...changes } })

export const setStrength = (entry: Entry, strength: number): Entry =>
  say(entry, { strength: entry.said.strength === strength ? null : strength })

export const stepStrength = (entry: Entry, step: 1 | -1, strengths: number): Entry => {
  const next = Math.min((entry.said.strength ?? 0) + step, strengths)
  return say(entry, { strength: next < 1 ? null : next })
}

export const toggleAllBad = (entry: Entry): Entry => say(entry, { all_bad: !entry.said.all_bad })

export const toggleFlag = (entry: Entry, flag: string): Entry => {
  const { flags } = entry.said
  return say(entry, { flags: flags.includes(flag) ? flags.filter((each) => each !== flag) : [...flags, flag] })
}

export const rate = (entry: Entry, aspect: string, place: number, rating: number | null): Entry => {
  const { [aspect]: own, ...rest } = entry.said.aspects
  // `Object.hasOwn` is needed because an aspect may be named `constructor`.
  const before = Object.hasOwn(entry.said.aspects, aspect) ? own! : entry.ranks.map(() => null)
  const ratings = before.map((each, i) => (i !== place ? each : each === rating ? null : rating))
  return say(entry, {
    aspects: ratings.every((each) => each === null) ? rest : { ...entry.said.aspects, [aspect]: ratings },
  })
}

export const edit = (entry: Entry, place: number, text: string, original: string): Entry =>
  say(entry, { edit: text === original ? null : { place, text } })

export const isBlank = (entry: Entry): boolean =>
  entry.best === null &&
  entry.rationale.trim() === "" &&
  saysNothing(entry.said) &&
  entry.ranks.every((rank) => rank === null)

export const choose = (entry: Entry, place: number): Entry =>
  place < entry.ranks.length ? { ...entry, best: entry.best === place ? null : place } : entry

export const switchMode = (entry: Entry): Entry => {
  if (entry.mode === "best") {
    const fresh = entry.best !== null && entry.ranks.every((rank) => rank === null)
    return { ...entry, mode: "rank", ranks: fresh ? ranking.assign(entry.ranks, entry.best, 1) : entry.ranks }
  }
  const first = ranking.groups(entry.ranks)[0]
  return { ...entry, mode: "best", best: entry.best ?? (first?.length === 1 ? (first[0] ?? null) : null) }
}

type Rubric = HeldItem["rubric"]

export interface Missing {
  readonly words: string
  readonly place: string | null
}

/** The questions in the order of the page, without the choice of the best completion. */
const questions = (entry: Entry, { aspects, required, strength }: Rubric) => {
  const must = (member: Rubric["required"][number]) => required.includes(member)
  return [
    ...entry.ranks.flatMap((_, place) =>
      aspects.map(({ name, required: isRequired = false }, i) => ({
        isAnswered: (entry.said.aspects[name]?.[place] ?? null) !== null,
        isRequired,
        words: `Rate ${name} of completion ${place + 1} first.`,
        place: `[aria-labelledby~="aspect-${place}-${i}"] [tabindex="0"]`,
      })),
    ),
    must("edit") && {
      isAnswered: (editOf(entry) ?? "").trim() !== "",
      isRequired: true,
      words: "Improve the best completion first.",
      place: "#edit",
    },
    must("rationale") && {
      isAnswered: entry.rationale.trim() !== "",
      isRequired: true,
      words: "Write a rationale first.",
      place: "#rationale",
    },
    strength.length > 0 && {
      isAnswered: entry.said.strength != null,
      isRequired: must("strength"),
      words: "First say how much better the best completion is.",
      place: "#strength button",
    },
  ].filter((question) => question !== false)
}

export const progress = (entry: Entry, rubric: Rubric): string | null => {
  const all = questions(entry, rubric)
  return all.length === 0 ? null : `${all.filter(({ isAnswered }) => isAnswered).length} of ${all.length} answered`
}

export const missing = (entry: Entry, rubric: Rubric): Missing | null => {
  const words = missingChoice(entry)
  if (words !== null) return { words, place: null }
  return questions(entry, rubric).find(({ isAnswered, isRequired }) => isRequired && !isAnswered) ?? null
}

const missingChoice = (entry: Entry): string | null => {
  if (entry.mode === "best") return entry.best === null ? "Choose the best completion first." : null
  const unranked = ranking.unranked(entry.ranks)
  if (unranked.length === 0) return null
  return unranked.length === entry.ranks.length
    ? "Give each completion a rank first."
    : `Not ranked yet: ${ranking.list(unranked.map((place) => place + 1))}.`
}

export const submission = (entry: Entry, rubric: Rubric, seconds: number): Submission | null => {
  if (missing(entry, rubric) !== null) return null
  const { edit: _, ...answers } = entry.said
  const edited = editOf(entry)
  const shared = {
    rationale: entry.rationale.trim(),
    seconds,
    ...(saysNothing({ ...answers, edit: null }) && edited === null ? {} : { assessment: { ...answers, edited } }),
  }
  if (entry.mode === "best") return { best: entry.best, ranking: null, ...shared }
  const groups = ranking.groups(entry.ranks).flatMap((group) => {
    const [first, ...rest] = group
    return first === undefined ? [] : [[first, ...rest] as const]
  })
  return { best: null, ranking: groups, ...shared }
}

export const format = (entry: Entry): string =>
  entry.mode === "rank" ? ranking.format(entry.ranks) : entry.best === null ? "" : String(entry.best + 1)

export const formatForScreenReader = (entry: Entry): string => {
  if (entry.mode === "best") return entry.best === null ? "Nothing chosen" : `Best: completion ${entry.best + 1}`
  const rankingText = ranking.formatForScreenReader(entry.ranks)
  const lacks = ranking.unranked(entry.ranks)
  if (rankingText === "") return "Nothing ranked"
  return lacks.length === 0 ? rankingText : `${rankingText}; not ranked: ${ranking.named(lacks)}`
}
