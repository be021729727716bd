/** Before a command sends records to experts, warns if these records already have votes or labels. */
import { Result } from "effect"
import * as Sample from "../detect/Sample.ts"
import * as BestCompletion from "../item/BestCompletion.ts"
import type { Layout, LayoutOptions } from "../layout/Layout.ts"
import * as Field from "../record/Field.ts"
import * as KnownNames from "../record/KnownNames.ts"
import { originOf, type Row } from "../record/Row.ts"
import * as Origin from "../../domain/Origin.ts"
import { describeValue, memberOf } from "../../io/Values.ts"
import * as ChoiceColumns from "./ChoiceColumns.ts"
import * as ChoiceNames from "./ChoiceNames.ts"
import { isOne, isZero } from "./ChoiceValue.ts"
import * as ToolExports from "./ToolExports.ts"
import { expertColumn, voteNames } from "./VoteNames.ts"

export const of = (
  rows: ReadonlyArray<Row>,
  { completions, gold }: LayoutOptions = {},
  layout?: Pick<Layout, "reads">,
): string | undefined => {
  if (layout?.reads === "parts") return ofLabels(rows)
  const sample = Sample.of(rows)
  const has = (names: ReadonlyArray<string>) =>
    Sample.named(sample.members, names).filter(({ values }) => values.length > 0)
  if (KnownNames.datasetMembers.every((name) => sample.members.some((member) => member.name === name))) return undefined
  const tool = ToolExports.recognize(rows)
  const [choice] = has(voteNames.choice)
  const experts = sample.members.filter(({ plainName }) => expertColumn.test(plainName))
  const isVote = choice !== undefined && (choice.path !== gold || has(voteNames.expert).length > 0)
  const oneHot = choice === undefined ? oneHotIn(sample, completions) : undefined
  if (tool === undefined && !isVote && oneHot === undefined && experts.length < 2) return undefined
  const where =
    tool === undefined
      ? `votes at ${JSON.stringify(choice?.name ?? oneHot ?? experts[0]?.name)}${isVote ? oddLabel(sample, choice.name, completions) : ""}`
      : `an export of ${tool.name}`
  return `${where}: a run would send these items to experts again; to use their votes, run prefstream import`
}

const nameOf = (path: string): string => Field.columnsOf(path)[0] ?? path

const oneHotIn = (sample: Sample.Sample, completions: LayoutOptions["completions"]): string | undefined => {
  if (!Array.isArray(completions)) return undefined
  const columns = ChoiceColumns.oneHot(sample, 0.5).map(nameOf)
  const places = ChoiceNames.finder(completions.map(nameOf)).placesOf(columns, { completions })
  return columns.find((_, i) => places[i]?.length === 1)
}

const oddLabel = (
  { records, rows }: Sample.Sample,
  name: string,
  completions: LayoutOptions["completions"],
): string => {
  if (!Array.isArray(completions)) return ""
  const best = BestCompletion.among(completions.map(nameOf))
  const wrong = records.flatMap((record, i) => {
    const value = memberOf(record, name)
    return BestCompletion.isNone(value) || Result.isSuccess(best(value, [])) ? [] : [{ row: rows[i]!, value }]
  })
  const [first] = wrong
  return first === undefined || wrong.length * 2 >= records.length
    ? ""
    : ` (these votes are not used as gold answers, because ${describeValue(first.value)} is not the name of a completion: ${Origin.describe(originOf(first.row.place))})`
}

export const ofLabels = (rows: ReadonlyArray<Row>): string | undefined => {
  const label = Sample.of(rows).members.find(
    ({ plainName, values }) =>
      voteNames.choice.some((name) => name === plainName) &&
      values.length > 0 &&
      values.every((value) => isOne(value) || isZero(value)),
  )
  return label === undefined
    ? undefined
    : `each record has one completion, and ${JSON.stringify(label.name)} says whether it is good, but prefstream import reads only comparisons. Send the completions of each prompt to experts with \`Source.files(file, { layout: "long" })\`, or use the file directly for KTO training`
}
