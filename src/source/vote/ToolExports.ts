/**
 * Recognizes exports of annotation tools. Converts their records to records with a list `votes`, and leaves out skipped
 * votes and drafts. See https://docs.argilla.io/latest/reference/argilla/records/responses
 */
import { Record } from "effect"
import * as VoteRow from "../../domain/VoteRow.ts"
import * as SpreadsheetCell from "../../io/SpreadsheetCell.ts"
import { isEmpty, isObject, type Members } from "../../io/Values.ts"
import * as Messages from "../item/Messages.ts"
import { fromText } from "../record/Field.ts"
import * as KnownNames from "../record/KnownNames.ts"
import type { Row } from "../record/Row.ts"
import { labelStudio, labelStudioFlat } from "./LabelStudio.ts"
import { isRationale, object, objects, type Shape } from "./ToolShape.ts"

/** `{ "fields": {…}, "responses": { "QUESTION": [{ "value": …, "user_id": … }] } }` */
const argilla: Shape = {
  name: "Argilla",
  is: ({ fields, responses }) =>
    isObject(fields) &&
    isObject(responses) &&
    Object.values(responses).every(
      (answers) => Array.isArray(answers) && answers.every((one) => isObject(one) && "value" in one),
    ),
  toRecord: ({ external_id, fields, id, metadata, responses }) => ({
    ...object(fields),
    item_id: external_id ?? id,
    metadata,
    votes: answersToVotes(
      Object.entries(object(responses)).map(([question, answers]) => ({ question, answers: objects(answers) })),
      Object.keys(object(fields)),
    ),
  }),
}

/** `{ fields, responses: [{ user_id, status: "submitted", values: { QUESTION: { value } } }] }` */
const argillaServer: Shape = {
  name: "Argilla (server)",
  is: ({ fields, responses }) =>
    isObject(fields) && Array.isArray(responses) && responses.every((one) => isObject(one) && "values" in one),
  toRecord: ({ external_id, fields, id, metadata, responses }) => {
    const answers = objects(responses).flatMap(({ status, user_id, values }) =>
      Object.entries(object(values)).map(([question, answer]) => ({
        question,
        answer: { status, user_id, value: object(answer)["value"] },
      })),
    )
    const questions = Map.groupBy(answers, ({ question }) => question)
    return {
      ...object(fields),
      item_id: external_id ?? id,
      metadata,
      votes: answersToVotes(
        [...questions].map(([question, all]) => ({ question, answers: all.map(({ answer }) => answer) })),
        Object.keys(object(fields)),
      ),
    }
  },
}

const argillaColumns = (record: Members) =>
  Object.entries(record).flatMap(([question, column]) => {
    if (Array.isArray(column)) {
      return column.length > 0 &&
        column.every((one) => isObject(one) && "user_id" in one && "value" in one && "status" in one)
        ? [{ question, answers: objects(column) }]
        : []
    }
    const { status, user_id, value } = object(column)
    return Array.isArray(user_id) && Array.isArray(value) && Array.isArray(status)
      ? [
          {
            question,
            answers: value.map((one, i): Members => ({ user_id: user_id[i], value: one, status: status[i] })),
          },
        ]
      : []
  })

const isUnanswered = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** `{ FIELD, QUESTION: [{ user_id, value, status }] }`, or `{ FIELD, QUESTION: { user_id: […], value: […], … } }` */
const argillaOnHub: Shape = {
  name: "Argilla (feedback dataset)",
  is: (record) => argillaColumns(record).length > 0,
  toRecord: (record) => {
    const columns = argillaColumns(record)
    const questions = new Set(columns.map(({ question }) => question))
    const isOfQuestion = (name: string) =>
      [...questions].some((question) => name === question || name.startsWith(`${question}-suggestion`))
    return withVotes(record, columns, (name, value) => !isOfQuestion(name) && !isUnanswered(value))
  },
}

/** `{ FIELD, "QUESTION.responses": […], "QUESTION.responses.users": […], "QUESTION.responses.status": […] }` */
const argillaFlat: Shape = {
  name: "Argilla (flat)",
  is: (record) => Object.keys(record).some((name) => name.endsWith(".responses.users")),
  toRecord: (record) => {
    const list = (name: string): ReadonlyArray<unknown> => (Array.isArray(record[name]) ? record[name] : [])
    const columns = Object.keys(record).flatMap((name) => {
      const [, question] = /^(.*)\.responses$/.exec(name) ?? []
      if (question === undefined) return []
      const [users, status] = [list(`${name}.users`), list(`${name}.status`)]
      return [{ question, answers: list(name).map((value, i) => ({ value, user_id: users[i], status: status[i] })) }]
    })
    return withVotes(record, columns, (name) => !/\.(responses|suggestion)(\.|$)/.test(name))
  },
}

const withVotes = (
  record: Members,
  columns: ReadonlyArray<Answers>,
  isPart: (name: string, value: unknown) => boolean,
): Members => {
  const { external_id, id, ...parts } = Object.fromEntries(
    Object.entries(record).filter(([name, value]) => isPart(name, value)),
  )
  return { ...parts, item_id: external_id ?? id, votes: answersToVotes(columns, Object.keys(parts)) }
}

interface Answers {
  readonly question: string
  readonly answers: ReadonlyArray<Members>
}

/** A ranking is a list of ranks from Argilla's server, or a list of names from its SDK, the best first. */
const ranksIn = (value: unknown): ReadonlyArray<Members> | undefined => {
  if (!Array.isArray(value) || value.length < 2) return undefined
  if (isRanking(value)) return objects(value)
  return value.every((one) => typeof one === "string")
    ? value.map((one, i) => ({ value: one, rank: i + 1 }))
    : undefined
}

const isRanking = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 1 && value.every((one) => isObject(one) && "rank" in one && "value" in one)

const choiceAmong = (columns: ReadonlyArray<Answers>): Answers | undefined => {
  const others = columns.filter(({ question }) => !isRationale(question))
  const named = KnownNames.golds.flatMap((name) =>
    others.filter(({ question }) => question.toLowerCase().replaceAll(/[ -]/g, "_") === name),
  )
  return (
    others.find(({ answers }) => answers.some(({ value }) => isRanking(value))) ??
    named[0] ??
    (others.length === 1
      ? others[0]
      : others.find(({ question }) => /prefer|better|best|choice|winner|rank/i.test(question)))
  )
}

const ratingsAmong = (columns: ReadonlyArray<Answers>, fields: ReadonlyArray<string>): Answers | undefined => {
  const numberIn = (name: string) => /\d+/.exec(name)?.[0]
  const ratings = columns.flatMap(({ answers, question }) => {
    const field = fields.find((name) => numberIn(name) !== undefined && numberIn(name) === numberIn(question))
    const isRating = answers.length > 0 && answers.every(({ value }) => typeof value === "number")
    return field !== undefined && isRating ? answers.map((answer) => ({ ...answer, field })) : []
  })
  if (new Set(ratings.map(({ field }) => field)).size < 2) return undefined
  const answers = [...Map.groupBy(ratings, (one: Members) => one["user_id"]).values()].map((all) => ({
    ...all[0],
    value: all.map(({ field, value }: Members) => ({ value: field, rank: -Number(value) })),
  }))
  return { question: "ratings", answers }
}

const answersToVotes = (columns: ReadonlyArray<Answers>, fields: ReadonlyArray<string>): ReadonlyArray<Members> => {
  const choice = choiceAmong(columns)
  const choiceQuestion = choice ?? ratingsAmong(columns, fields)
  const submitted = (answers: ReadonlyArray<Members>) =>
    answers.filter(({ status }) => isEmpty(status) || status === "submitted")
  const rationaleQuestion = choice && columns.find(({ question }) => isRationale(question))
  return submitted(choiceQuestion?.answers ?? []).flatMap(({ user_id, value }): ReadonlyArray<Members> => {
    if (isEmpty(value)) return []
    const rationale = submitted(rationaleQuestion?.answers ?? []).find((other) => other["user_id"] === user_id)?.[
      "value"
    ]
    const vote = { expert: user_id, ...(rationale === undefined ? {} : { rationale }) }
    const ranks = ranksIn(value)
    return ranks === undefined ? [{ ...vote, choice: value }] : [{ ...vote, ranked: ranks }]
  })
}

/** Whether prefstream wrote the record, and put apostrophes before texts that a spreadsheet would run as formulas. */
const isNeutralized = (record: Members): boolean =>
  !Object.hasOwn(record, VoteRow.rawColumn) && VoteRow.columns.every((name) => Object.hasOwn(record, name))

const restoreText = (cell: unknown): unknown => (typeof cell === "string" ? SpreadsheetCell.restore(cell) : cell)

export const isOwnVote = (record: Members): boolean =>
  ["item_id", "prompt", "completions", "expert", "vote", "chosen_index", "task_id"].every((name) =>
    Object.hasOwn(record, name),
  )

const voteTable: Shape = {
  name: "prefstream",
  is: isOwnVote,
  isTextual: true,
  toRecord: (record) => {
    const restoredRecord = isNeutralized(record) ? Record.map(record, restoreText) : record
    const prompt = fromText(restoredRecord["prompt"])
    return Messages.isList(prompt) ? { ...restoredRecord, prompt } : restoredRecord
  },
}

const shapes = [labelStudio, labelStudioFlat, voteTable, argilla, argillaServer, argillaFlat, argillaOnHub]

export const recognize = (rows: ReadonlyArray<Row>): Shape | undefined => {
  const all = objects(rows.map(({ value }) => value))
  if (all.length < rows.length) return undefined
  const isTable = rows.some(({ isTextual }) => isTextual === true)
  return shapes.find(({ is, isTextual }) => {
    if (isTextual === true && !isTable) return false
    const recognizedRecords = all.filter(is)
    const names = new Set(recognizedRecords.flatMap((record) => Object.keys(record)))
    return (
      recognizedRecords.length > 0 &&
      all.every((record) => is(record) || Object.keys(record).every((name) => names.has(name)))
    )
  })
}
