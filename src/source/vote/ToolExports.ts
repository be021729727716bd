/**
 * Exports of annotation tools, recognized by the shape of their records, and rewritten as records with a list `votes`; and
 * prefstream's own tables.
 *
 * Guarantees: a tool is recognized only if each of the first records has one of its shapes, or no member that those with it
 * lack: nobody answered it. Votes that were not submitted, or were skipped, are left out. Texts are not changed.
 *
 * Argilla, `dataset.records.to_json`, and `FeedbackDataset` on the Hugging Face Hub:
 * https://docs.argilla.io/latest/reference/argilla/records/responses.
 */
import { Record } from "effect"
import * as VoteRow from "../../domain/VoteRow.ts"
import * as SpreadsheetCell from "../../io/SpreadsheetCell.ts"
import { isEmpty, isObject } from "../../io/Values.ts"
import * as Messages from "../item/Messages.ts"
import { fromText } from "../record/Field.ts"
import * as KnownNames from "../record/KnownNames.ts"
import type { Row } from "../record/Row.ts"
import { labelStudio, labelStudioFlat } from "./LabelStudio.ts"
import { isRationale, type Members, object, objects, type Shape } from "./ToolShape.ts"

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
    ),
  }),
}

/** `{ "fields": {…}, "responses": [{ "user_id": …, "status": "submitted", "values": { "QUESTION": { "value": … } } }] }` */
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
    const questions = [...new Set(answers.map(({ question }) => question))]
    return {
      ...object(fields),
      item_id: external_id ?? id,
      metadata,
      votes: answersToVotes(
        questions.map((question) => ({
          question,
          answers: answers.flatMap((one) => (one.question === question ? [one.answer] : [])),
        })),
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
            answers: value.map((one: unknown, i) => ({
              user_id: user_id[i] as unknown,
              value: one,
              status: status[i] as unknown,
            })),
          },
        ]
      : []
  })

const isUnanswered = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** `{ FIELD: …, "QUESTION": [{ "user_id": …, "value": …, "status": "submitted" }] }`, or a list for each of the three */
const argillaOnHub: Shape = {
  name: "Argilla (feedback dataset)",
  is: (record) => argillaColumns(record).length > 0,
  toRecord: (record) => {
    const columns = argillaColumns(record)
    const questions = new Set(columns.map(({ question }) => question))
    const isOfQuestion = (name: string) =>
      [...questions].some((question) => name === question || name.startsWith(`${question}-suggestion`))
    const { external_id, id, ...parts } = Object.fromEntries(
      Object.entries(record).filter(([name, value]) => !isOfQuestion(name) && !isUnanswered(value)),
    )
    return { ...parts, item_id: external_id ?? id, votes: answersToVotes(columns) }
  },
}

/** `{ FIELD: …, "QUESTION.responses": […], "QUESTION.responses.users": […], "QUESTION.responses.status": […] }` */
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
    const { external_id, id, ...parts } = Object.fromEntries(
      Object.entries(record).filter(([name]) => !/\.(responses|suggestion)(\.|$)/.test(name)),
    )
    return { ...parts, item_id: external_id ?? id, votes: answersToVotes(columns) }
  },
}

interface Answers {
  readonly question: string
  readonly answers: ReadonlyArray<Members>
}

/** The elements with their ranks: as the server has them, or names, best first, as the SDK writes them. */
const ranksIn = (value: unknown): ReadonlyArray<Members> | undefined => {
  if (!Array.isArray(value) || value.length < 2) return undefined
  if (isRanking(value)) return objects(value)
  return value.every((one) => typeof one === "string")
    ? value.map((one, i) => ({ value: one, rank: i + 1 }))
    : undefined
}

const isRanking = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 1 && value.every((one) => isObject(one) && "rank" in one && "value" in one)

/** The question that is the choice: a ranking, else one by a name for it, else the only one that is no text about it. */
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

const answersToVotes = (columns: ReadonlyArray<Answers>): ReadonlyArray<Members> => {
  const chosen = choiceAmong(columns)
  const submitted = (answers: ReadonlyArray<Members>) =>
    answers.filter(({ status }) => isEmpty(status) || status === "submitted")
  const said = columns.find(({ question }) => isRationale(question))
  return submitted(chosen?.answers ?? []).flatMap(({ user_id, value }): ReadonlyArray<Members> => {
    if (isEmpty(value)) return []
    const rationale = submitted(said?.answers ?? []).find((other) => other["user_id"] === user_id)?.["value"]
    const vote = { expert: user_id, ...(rationale === undefined ? {} : { rationale }) }
    const ranked = ranksIn(value)
    return ranked === undefined ? [{ ...vote, choice: value }] : [{ ...vote, ranked }]
  })
}

/** Whether prefstream wrote the record for spreadsheets. Those of a foreign table, with apostrophes of its own, stay as they are. */
const isNeutralized = (record: Members): boolean =>
  !Object.hasOwn(record, VoteRow.rawColumn) && VoteRow.columns.every((name) => Object.hasOwn(record, name))

const restoreText = (cell: unknown): unknown => (typeof cell === "string" ? SpreadsheetCell.restore(cell) : cell)

/** A table of prefstream as CSV, where the messages of a prompt are JSON text. */
const voteTable: Shape = {
  name: "prefstream",
  is: (record) =>
    ["item_id", "prompt", "completions", "expert", "vote", "chosen_index", "task_id"].every((name) =>
      Object.hasOwn(record, name),
    ),
  isTextual: true,
  toRecord: (record) => {
    const restored = isNeutralized(record) ? Record.map(record, restoreText) : record
    const prompt = fromText(restored["prompt"])
    return Messages.isList(prompt) ? { ...restored, prompt } : restored
  },
}

const shapes: ReadonlyArray<Shape> = [
  labelStudio,
  labelStudioFlat,
  voteTable,
  argilla,
  argillaServer,
  argillaFlat,
  argillaOnHub,
]

/** The tool whose export the first records are. */
export const recognize = (rows: ReadonlyArray<Row>): Shape | undefined => {
  const all = objects(rows.map(({ value }) => value))
  if (all.length < rows.length) return undefined
  const isTable = rows.some(({ isTextual }) => isTextual === true)
  return shapes.find(({ is, isTextual }) => {
    if (isTextual === true && !isTable) return false
    const known = all.filter(is)
    const names = new Set(known.flatMap((record) => Object.keys(record)))
    return known.length > 0 && all.every((record) => is(record) || Object.keys(record).every((name) => names.has(name)))
  })
}
