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
import { Predicate } from "effect"
import { isEmpty, isObject } from "../../io/Values.ts"
import * as Messages from "../item/Messages.ts"
import { fromText } from "../record/Field.ts"
import * as KnownNames from "../record/KnownNames.ts"
<<<<<<< HEAD
import type { Row } from "../record/Row.ts"
import { labelStudio, labelStudioFlat } from "./LabelStudio.ts"
import { isRationale, type Members, object, objects, type Shape } from "./ToolShape.ts"
=======

type Members = { readonly [member: string]: unknown }

interface Shape {
  /** For people. */
  readonly name: string
  readonly is: (record: Members) => boolean
  /** The record with the item's parts at its top, and `votes`. Members are as the layouts know them. */
  readonly toRecord: (record: Members) => Members
}

const objects = (value: unknown): ReadonlyArray<Members> => (Array.isArray(value) ? value.filter(isObject) : [])
const object = (value: unknown): Members => (isObject(value) ? value : {})

/** `{ "data": {…}, "annotations": [{ "completed_by": 1, "result": […] }] }`; before version 1, `completions` */
const labelStudio: Shape = {
  name: "Label Studio",
  is: ({ completions, annotations = completions, data }) =>
    isObject(data) &&
    Array.isArray(annotations) &&
    annotations.every((one) => isObject(one) && Array.isArray(one["result"])),
  toRecord: ({ completions: old, annotations = old, data, id }) => {
    const { id: own, ...parts } = object(data)
    const list = listOf(parts)
    // The names of the template for pairwise comparison.
    const pair = [parts["text1"], parts["text2"]]
    const isPair = pair.every((text) => typeof text === "string") && parts["text3"] === undefined
    const votes = objects(annotations)
      .filter((one) => one["was_cancelled"] !== true)
      .flatMap((one) => {
        const results = objects(one["result"])
        const choice = results.flatMap(choiceOf)[0]
        const ranking = results.flatMap((result) => rankingOf(result, list?.ids ?? []))[0]
        if (choice === undefined && ranking === undefined) return []
        const texts = results
          .filter(({ type }) => type === "textarea")
          .flatMap(({ value }) => object(value)["text"] ?? [])
        const { completed_by, created_at, lead_time } = one
        return [
          {
            expert: completed_by,
            choice,
            ranking,
            rationale: texts.filter(Predicate.isString).join("\n"),
            judged_at: created_at,
            seconds: lead_time,
          },
        ]
      })
    const completions = list !== undefined ? { completions: list.texts } : isPair ? { completions: pair } : {}
    return { ...parts, ...completions, item_id: own ?? id, votes }
  },
}

/** Of `Pairwise`: the side. Of `Choices` and `Rating`: what was said. */
const choiceOf = ({ type, value }: Members): ReadonlyArray<unknown> => {
  const { choices, selected } = object(value)
  if (type === "pairwise") return isEmpty(selected) ? [] : [selected]
  return type === "choices" && Array.isArray(choices) && choices.length === 1 ? choices : []
}

/** The data of a `List`: objects with an id and a text. */
const listOf = (data: Members) =>
  Object.values(data).flatMap((value) => {
    const elements = objects(value)
    const ids = elements.map(({ id }) => id)
    const texts = elements.map(({ body, html, title }) => body ?? html ?? title)
    return elements.length > 1 && ids.every((id) => !isEmpty(id)) && texts.every((text) => typeof text === "string")
      ? [{ ids, texts }]
      : []
  })[0]

/** Of `Ranker`: ids, best first; with buckets, these in their order, each a group. What is in no bucket comes last. */
const rankingOf = (
  { type, value }: Members,
  ids: ReadonlyArray<unknown>,
): ReadonlyArray<ReadonlyArray<ReadonlyArray<number>>> => {
  if (type !== "ranker") return []
  const ranker = object(value)["ranker"]
  const at = (list: unknown) => (Array.isArray(list) ? list.map((id: unknown) => ids.indexOf(id)) : [])
  const buckets = Object.entries(object(ranker)).filter(([, list]) => Array.isArray(list) && list.length > 0)
  const isOrder = Array.isArray(ranker) || buckets.length === 1
  const groups = isOrder
    ? at(Array.isArray(ranker) ? ranker : buckets[0]![1]).map((index) => [index])
    : [...buckets.filter(([name]) => name !== "_"), ...buckets.filter(([name]) => name === "_")].map(([, list]) =>
        at(list),
      )
  return [groups]
}
>>>>>>> faults

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

/** A table of prefstream as CSV, where the messages of a prompt are JSON text. */
const voteTable: Shape = {
  name: "prefstream",
  is: (record) =>
    ["item_id", "prompt", "completions", "expert", "vote", "chosen_index", "task_id"].every((name) =>
      Object.hasOwn(record, name),
    ),
  isTextual: true,
  toRecord: (record) => {
    const prompt = fromText(record["prompt"])
    return Messages.isList(prompt) ? { ...record, prompt } : record
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
