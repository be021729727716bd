/** Finds columns that contain a choice as 0 and 1. For other columns, such as scores, only suggests options to set. */
import * as OptionText from "../../io/OptionText.ts"
import { isObject, joinWords, memberOf, plural } from "../../io/Values.ts"
import * as Sample from "../detect/Sample.ts"
import * as KnownNames from "../record/KnownNames.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { numberOf } from "./ChoiceMap.ts"
import { isOne, isZero } from "./ChoiceValue.ts"
import { voteNames } from "./VoteNames.ts"

/** Finds columns of zeros and ones. In at least `minShare` of the records, one column must be 1 and the rest 0. */
export const oneHot = ({ members, records }: Sample.Sample, minShare = 0.9): ReadonlyArray<string> => {
  for (const name of voteNames.choice) {
    const columns = members.filter(
      ({ plainName, values }) =>
        plainName.startsWith(`${name}_`) && values.length > 0 && values.every((value) => isOne(value) || isZero(value)),
    )
    const isMixed = columns.filter(({ values }) => values.some(isOne)).length > 1
    const cells = records.map((record) => columns.map((column) => memberOf(record, column.name)))
    if (columns.length > 1 && areOneHot(cells, isMixed ? minShare : 1)) return columns.map(({ path }) => path)
  }
  return []
}

export const areOneHot = (records: ReadonlyArray<ReadonlyArray<unknown>>, minShare: number): boolean =>
  records.filter((cells) => cells.filter(isOne).length === 1).length >= records.length * minShare

const measures = [
  ["scores", /(?:^|_)(?:scores?|ratings?|rewards?|quality|upvotes|elo)(?:$|_)/],
  ["ranks", /(?:^|_)(?:ranks?|rankings?)(?:$|_)/],
] as const

export const suggestion = (sample: Sample.Sample): string | undefined => {
  const { members, records } = sample
  const flags = oneHot(sample, 0.5)
  if (flags.length > 0) {
    return `if 1 marks the choice in each record, set ${OptionText.set({ choice: flags, choiceAs: "one-hot" })}`
  }
  for (const pair of KnownNames.completionPairs) {
    const [better, other] = pair.map((name) => members.find(({ plainName }) => plainName === name)?.name)
    if (better !== undefined && other !== undefined) {
      return `if ${JSON.stringify(better)} is the better completion in each record, set ${OptionText.set({ choice: better })}`
    }
  }
  for (const [kind, pattern] of measures) {
    const candidates = members.filter(({ plainName }) => pattern.test(plainName))
    const columns = candidates.filter(
      ({ values }) => values.length > 0 && values.every((one) => numberOf(one) !== undefined),
    )
    const lists = candidates.filter(({ values }) => values.some((one) => Array.isArray(one) && one.length > 1))
    const elements = members.flatMap(({ name, values }) => {
      const objects = values
        .flatMap((value): ReadonlyArray<unknown> => (Array.isArray(value) ? value : []))
        .filter(isObject)
      const measure = Object.keys(objects[0] ?? {}).find(
        (key) => pattern.test(Sample.plain(key)) && objects.every((one) => numberOf(one[key]) !== undefined),
      )
      return measure === undefined ? [] : [`${FieldPath.format([name])}[]${FieldPath.formatTail([measure])}`]
    })
    const paths =
      columns.length > 1 ? columns.map(({ path }) => path) : [...lists.map(({ path }) => path), ...elements].slice(0, 1)
    if (paths.length > 0 && records.length > 0) {
      return `if ${joinWords(paths.map((path) => JSON.stringify(path)))} ${plural(paths.length, "contains", "contain")} the ${kind} of the completions, set ${OptionText.set({ choice: paths.length === 1 ? paths[0] : paths, choiceAs: kind })}`
    }
  }
  return undefined
}
