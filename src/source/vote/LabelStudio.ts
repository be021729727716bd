/** Converts exports of Label Studio (https://labelstud.io/guide/export). Skipped votes are left out of `votes`. */
import { Predicate, Struct } from "effect"
import { isEmpty, isObject, type Members } from "../../io/Values.ts"
import { fromText } from "../record/Field.ts"
import { isRationale, object, objects, type Shape } from "./ToolShape.ts"

/** A record: `{ data, annotations: [{ completed_by, result: […] }] }`. Before version 1: `completions: […]`. */
export const labelStudio: Shape = {
  name: "Label Studio",
  is: ({ completions, annotations = completions, data }) =>
    isObject(data) &&
    Array.isArray(annotations) &&
    annotations.every((one) => isObject(one) && Array.isArray(one["result"])),
  toRecord: ({ completions: old, annotations = old, data, id }) => {
    const { id: dataId, ...parts } = object(data)
    const list = listOf(parts)
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
    return { ...parts, ...completions, item_id: dataId ?? id, votes }
  },
}

/** One record per annotation: `{ …, annotation_id, TAG: [{ selected: "left" }] }`. In CSV, values are JSON text. */
export const labelStudioFlat: Shape = {
  name: "Label Studio (flat)",
  is: (record) =>
    ["annotation_id", "annotator", "lead_time"].every((name) => Object.hasOwn(record, name)) &&
    Object.values(record).some((value) => controlIn(value) !== undefined),
  toRecord: ({ annotator, created_at, id, lead_time, ...others }) => {
    const parts = Struct.omit(others, ["annotation_id", "updated_at"])
    const controls = Object.entries(parts).flatMap(([name, value]): ReadonlyArray<readonly [string, unknown]> => {
      const result = controlIn(value)
      if (result !== undefined) return [[name, result]]
      return typeof value === "string" && isRationale(name)
        ? [[name, { type: "textarea", value: { text: [value] } }]]
        : []
    })
    const names = controls.map(([name]) => name)
    const data = Object.entries(parts)
      .filter(([name]) => !names.includes(name))
      .map(([name, value]) => [name, objects(fromText(value)).length > 0 ? fromText(value) : value])
    const result = controls.map(([, result]) => result)
    return labelStudio.toRecord({
      id,
      data: Object.fromEntries(data),
      annotations: [{ completed_by: annotator, created_at, lead_time, result }],
    })
  },
}

const controlIn = (value: unknown): Members | undefined => {
  const [one, ...more] = objects(fromText(value))
  if (one === undefined || more.length > 0) return undefined
  if (!isEmpty(one["selected"])) return { type: "pairwise", value: one }
  if (one["ranker"] !== undefined) return { type: "ranker", value: one }
  return Array.isArray(one["choices"]) ? { type: "choices", value: one } : undefined
}

const choiceOf = ({ type, value }: Members): ReadonlyArray<unknown> => {
  const { choices, selected } = object(value)
  if (type === "pairwise") return isEmpty(selected) ? [] : [selected]
  return type === "choices" && Array.isArray(choices) && choices.length === 1 ? choices : []
}

const listOf = (data: Members) =>
  Object.values(data).flatMap((value) => {
    const elements = objects(value)
    const ids = elements.map(({ id }) => id)
    const texts = elements.map(({ body, html, title }) => body ?? html ?? title)
    return elements.length > 1 && ids.every((id) => !isEmpty(id)) && texts.every((text) => typeof text === "string")
      ? [{ ids, texts }]
      : []
  })[0]

/**
 * A list, or the items of a single bucket, are ordered from the best to the worst. With several buckets, the best
 * bucket comes first, and the items of a bucket are tied. The bucket `_` has all other items, and comes last.
 */
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
