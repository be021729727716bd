/** Decides from the first records how choices are read. If several ways are possible, the failure shows examples. */
import { Result } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import type { SourceItem } from "../../domain/PromptItem.ts"
import * as OptionText from "../../io/OptionText.ts"
import { describeValue, excerpt, isEmpty, joinWords, quoteNames } from "../../io/Values.ts"
import type { Field } from "../record/Field.ts"
import * as KnownNames from "../record/KnownNames.ts"
import * as Choice from "./Choice.ts"
import { areOneHot } from "./ChoiceColumns.ts"
import * as ChoiceMap from "./ChoiceMap.ts"
import { unwrap } from "./ChoiceValue.ts"
import { indexNames } from "./VoteNames.ts"

export interface SampledChoice extends SourceItem {
  readonly value: unknown
  readonly name: string
}

export interface Naming {
  readonly labels: ReadonlyArray<string> | undefined
  readonly isIndex: boolean
  readonly isId: boolean
}

export const namingOf = (choices: ReadonlyArray<Field>): Omit<Naming, "labels"> => {
  const name = choices.length === 1 ? KnownNames.plain(choices[0]!.label) : ""
  return { isIndex: indexNames.has(name), isId: name.endsWith("_id") }
}

interface Candidate extends Choice.Reading {
  readonly option: string
}

const ofKind = (kind: Choice.ChoiceKind): Candidate => ({ option: OptionText.set({ choiceAs: kind }), kind })

const ofMap = (text: string): ReadonlyArray<Candidate> =>
  Result.match(
    Result.flatMap(ChoiceMap.parse(text), (choiceMap) =>
      Result.map(ChoiceMap.make(choiceMap), (map) => ({ option: OptionText.set({ choiceMap }), map })),
    ),
    { onFailure: () => [], onSuccess: (candidate) => [candidate] },
  )

const candidates = (numbers: ReadonlyArray<number>, completions: number): ReadonlyArray<Candidate> => {
  const [min, max] = [Math.min(...numbers), Math.max(...numbers)]
  const isWhole = numbers.every(Number.isInteger)
  const isPair = completions === 2
  if (min < 0) return isPair ? [ofKind("scale"), ...ofMap("<0=second,0=tie,>0=first")] : []
  if (isWhole && max <= completions) {
    const asIndices = ChoiceMap.places
      .slice(0, completions)
      .map((place, i) => `${String(i)}=${place}`)
      .join(",")
    const tieLast = ofMap(`${asIndices},${completions}=tie`)
    return [
      ofKind("number"),
      ...(max < completions ? [ofKind("index")] : completions <= ChoiceMap.places.length ? tieLast : []),
      ...(isPair ? ofMap(`1=first,0=second${max < 2 ? "" : ",2=tie"}`) : []),
    ]
  }
  if (!isPair) return []
  const isFromOne = numbers.every((number) => number >= 1 || (number === 0 && !isWhole))
  const middle = ((isFromOne ? 1 : 0) + Math.ceil(max)) / 2
  const zero = isFromOne && min === 0 ? "0=tie," : ""
  const thresholds = (below: string, above: string) =>
    ofMap(`${zero}<${middle}=${below},${middle}=tie,>${middle}=${above}`)
  return [...thresholds("first", "second"), ...thresholds("second", "first")]
}

export const decide = (
  sampled: ReadonlyArray<SampledChoice>,
  { isId, isIndex, labels }: Naming,
): Result.Result<Choice.Reading, string> => {
  const choices = sampled
    .map((one) => ({ ...one, value: unwrap(one.value, one.item.completions) }))
    .filter(({ item, value }) => !isMissing(value) && Choice.outcomeOf(value, item) === undefined)
  const isText = ({ item, value }: SampledChoice) =>
    (typeof value === "string" || typeof value === "number") && item.completions.includes(String(value))
  const counted = choices.filter(({ value }) => ChoiceMap.numberOf(value) !== undefined)
  const numbers = [...new Set(counted.flatMap(({ value }) => ChoiceMap.numberOf(value) ?? []))]
  const byName = Choice.reader({}, labels)
  const isNamed = (one: SampledChoice) => Result.isSuccess(byName(one.value, one.item))
  const completions = Math.max(2, ...sampled.map(({ item }) => item.completions.length))
  if (counted.length === 0) {
    if (choices.length === 0 || choices.some(isNamed)) return Result.succeed({})
    const areTruthValues = choices.every(({ value }) => ChoiceMap.truthOf(value) !== undefined) && completions === 2
    const [list] = choices.filter(({ value }) => Array.isArray(value))
    if (list !== undefined) {
      return Result.fail(
        `${describeField([list])} lists: if each list has one value per completion, set ${OptionText.set({ choiceAs: "scores" })} (the highest is the best), ${OptionText.set({ choiceAs: "ranks" })} (the lowest is the best), or ${OptionText.set({ choiceAs: "one-hot" })} (1 marks the best)`,
      )
    }
    return areTruthValues
      ? ask(choices, [...ofMap("true=first,false=second"), ...ofMap("true=second,false=first")], labels)
      : Result.fail(unknownTexts(choices))
  }
  if (counted.length < choices.length && choices.every(isText)) return Result.succeed({ kind: "text" })
  const reads = (reading: Choice.Reading) => {
    const read = Choice.reader(reading, labels)
    return counted.every(({ item, value }) => Result.isSuccess(read(value, item)))
  }
  if (isIndex && reads({ kind: "index" })) return Result.succeed({ kind: "index" })
  if (isId && reads({ kind: "name" })) return Result.succeed({ kind: "name" })
  const isAll = numbers.length === completions && numbers.every((n) => Number.isInteger(n) && n > 0 && n <= completions)
  const possibleReadings = [
    ...(isAll ? [ofKind("number")] : candidates(numbers, completions)),
    ...(counted.every(isText) ? [ofKind("text")] : []),
    ...(labels === undefined ? [] : [ofKind("name")]),
  ].filter(reads)
  const outcomes = possibleReadings.map((reading) => outcomesOf(reading, counted, labels).join())
  const distinctReadings = possibleReadings.filter(
    ({ kind }, i) => kind !== "name" || outcomes.indexOf(outcomes[i]!) === i,
  )
  const [first] = distinctReadings
  if (first === undefined) {
    return Result.fail(
      `${describeField(counted)} ${joinWords(listValues(numbers))}, but these are not the numbers of the ${completions} completions. If the choice is in another field, set ${OptionText.of("choice")} to that field. If it is in this field, set ${OptionText.of("choiceAs")}, or give each number a meaning: ${OptionText.set({ choiceMap: example(numbers.toSorted((a, b) => a - b)) })}`,
    )
  }
  return isAll && distinctReadings.length === 1
    ? Result.succeed({ kind: first.kind })
    : ask(counted, distinctReadings, labels)
}

export const isMissing = (value: unknown): boolean =>
  isEmpty(value) || Number.isNaN(value) || (typeof value === "string" && /^\s*(?:na|n\/a|nan|null)?\s*$/i.test(value))

const listValues = (values: ReadonlyArray<unknown>) => {
  const sorted = values.every((value) => typeof value === "number") ? values.toSorted((a, b) => a - b) : values
  const different = [...new Set(sorted.map(describeValue))]
  return [...different.slice(0, 8), ...(different.length > 8 ? [`${different.length - 8} more`] : [])]
}

const example = (values: ReadonlyArray<unknown>): { readonly [value: string]: string } =>
  Object.fromEntries(
    values
      .filter((value) => typeof value !== "object")
      .slice(0, 4)
      .map((value) => [String(value), "…"]),
  )

const namesOf = (choices: ReadonlyArray<SampledChoice>): ReadonlyArray<string> => [
  ...new Set(choices.map(({ name }) => name.replace(/\[\d+\]/, "[]"))),
]

const describeField = (choices: ReadonlyArray<SampledChoice>): string => {
  const names = namesOf(choices)
  return `${quoteNames(names.slice(0, 4))} ${names.length > 1 ? "have" : "has"}`
}

const unknownTexts = (choices: ReadonlyArray<SampledChoice>): string => {
  const values = [...new Set(choices.map(({ value }) => value))]
  const choiceMap = example(values)
  const orMap =
    Object.keys(choiceMap).length === 0
      ? ""
      : `, or set ${OptionText.set({ choiceMap })}, where "…" stands for one of these meanings: ${ChoiceMap.expectedMeanings}`
  return `${describeField(choices)} ${joinWords(listValues(values))}, but no value identifies a completion: set ${OptionText.of("choice")} to the field that identifies the chosen completion${orMap}`
}

const meaningOf = (
  { allBad, choice, ranking }: Choice.ParsedChoice,
  labels: ReadonlyArray<string> | undefined,
): string =>
  choice === undefined
    ? allBad === true
      ? "all are bad"
      : "a tie"
    : `${placeOf(choice, labels)} is better${(ranking?.[0]?.length ?? 1) > 1 ? ", with others" : ""}`

const placeOf = (index: number, labels: ReadonlyArray<string> | undefined): string =>
  labels?.[index] === undefined ? (ChoiceMap.places[index] ?? `number ${index + 1}`) : `"${labels[index]}"`

const outcomesOf = (
  reading: Choice.Reading,
  choices: ReadonlyArray<SampledChoice>,
  labels: ReadonlyArray<string> | undefined,
): ReadonlyArray<string> => {
  const read = Choice.reader(reading, labels)
  return choices.map(({ item, value }) => {
    const chosen = Result.getOrUndefined(read(value, item))
    return chosen === undefined ? "no vote" : meaningOf(chosen, labels)
  })
}

const ask = (
  choices: ReadonlyArray<SampledChoice>,
  readings: ReadonlyArray<Candidate>,
  labels: ReadonlyArray<string> | undefined,
): Result.Result<never, string> => {
  const isFirst = ({ value }: SampledChoice, i: number) =>
    choices.findIndex((other) => String(other.value) === String(value)) === i
  const different = choices.filter(isFirst)
  const sampleChoices = different
    .toSorted((a, b) => Number(a.value) - Number(b.value))
    .filter((_, i, { length }) => i === length - 1 || i % Math.ceil(length / 12) === 0)
    .toSorted((a, b) => different.indexOf(a) - different.indexOf(b))
  const pairs = sampleChoices.flatMap((one, i) => sampleChoices.slice(i + 1).map((other) => [one, other]))
  const distinction = (pair: ReadonlyArray<SampledChoice>) => {
    const outcomes = readings.map((reading) => outcomesOf(reading, pair, labels))
    return new Set(outcomes.map((two) => two.join())).size + outcomes.filter(([one, other]) => one !== other).length
  }
  const [first = choices.slice(0, 2)] = pairs.toSorted((a, b) => distinction(b) - distinction(a))
  const values = [...new Set(choices.map(({ value }) => ChoiceMap.numberOf(value) ?? value))]
  const isOneRecord = new Set(first.map(whereOf)).size < first.length
  const places = first.map((one) => (isOneRecord ? `${whereOf(one)}, ${one.name}` : whereOf(one)))
  const width = Math.max(...readings.map(({ option }) => option.length))
  const records = [...Map.groupBy(choices, ({ item }) => item).values()]
  const isOneHot =
    namesOf(choices).length > 1 &&
    areOneHot(
      records.map((cells) => cells.map(({ value }) => value)),
      0.5,
    )
  return Result.fail(
    [
      `${describeField(choices)} ${joinWords(listValues(values))}, but the meaning of these values is unclear. Two records as examples:`,
      ...first.map((one, i) => `  ${places[i]}: ${recordOf(one, labels)}`),
      `Set the option that gives the correct results for these records. If no option does, set ${OptionText.of("choiceMap")} to the meaning of each value. Options and their results:`,
      ...readings.map((reading) => {
        const outcomes = outcomesOf(reading, first, labels).map((outcome, i) => `${places[i]}: ${outcome}`)
        return `  ${reading.option.padEnd(width)}  ${outcomes.join("; ")}`
      }),
      ...(isOneHot ? [`  ${ofKind("one-hot").option.padEnd(width)}  the column with the value 1 is chosen`] : []),
    ].join("\n"),
  )
}

const whereOf = ({ origin: { line, row } }: SampledChoice): string =>
  line === undefined ? `record ${row ?? 1}` : `line ${line}`

const recordOf = ({ item, name, value }: SampledChoice, labels: ReadonlyArray<string> | undefined): string =>
  [
    `${name} is ${describeValue(value)}`,
    `prompt ${JSON.stringify(excerpt(Conversation.render(item.prompt), 60))}`,
    ...item.completions.slice(0, 4).map((text, i) => `${placeOf(i, labels)}: ${JSON.stringify(excerpt(text, 60))}`),
  ].join(", ")
