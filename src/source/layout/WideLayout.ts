/**
 * Records that have a column for each completion: the layouts `wide` and `pairs`.
 *
 * Guarantees: completions stand in the order of their fields, and a reject names the column. Gold
 * stays with its completion where others are missing. Models are named where the input names all of them: in columns of
 * their own, or by the columns' names (`ColumnModels`).
 *
 * A prompt and completions that are lists of texts are turns, as in the LMSYS Chatbot Arena's files (there as JSON
 * text, so that their paths end with `[]`): lists of one text count as this text. Longer ones are refused, since the
 * models' earlier answers differ.
 */
import { Result } from "effect"
import * as ItemDecoder from "../item/ItemDecoder.ts"
import { reject, type Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import * as BestCompletion from "../item/BestCompletion.ts"
import { type Field, fromText } from "../record/Field.ts"
import { describeValue, isEmpty, isObject } from "../../io/Values.ts"
import type { Kept } from "../item/Metadata.ts"
import * as SharedPrompt from "./SharedPrompt.ts"

export interface WideFields {
  readonly id: Field | undefined
  /** None where the completions are whole conversations. */
  readonly prompt: Field | undefined
  readonly completions: ReadonlyArray<Field>
  /** Columns that have the models' names. */
  readonly models: ReadonlyArray<Field> | undefined
  /** Models that the completions' columns are named after. */
  readonly columnModels: ReadonlyArray<string> | undefined
  readonly gold: Field | undefined
  readonly kept: Kept
  readonly keepIncomplete: boolean
}

export const toRecord = (fields: WideFields): ((row: Row) => SourceRecord) => {
  const names = fields.completions.map(({ name }) => name)
  const best = BestCompletion.among(fields.completions.map(({ label }) => label))
  const alwaysBest = fields.completions.findIndex(({ label }) => label === fields.gold?.label)

  /** Gold of the completions that are there, by their columns' numbers. */
  const goldOf = (
    row: Row,
    models: ReadonlyArray<string | undefined>,
    there: ReadonlyArray<number>,
  ): Result.Result<unknown, string> => {
    const { gold } = fields
    const value = gold === undefined || alwaysBest >= 0 ? undefined : fromText(gold.get(row.value, row.isTextual))
    if (gold === undefined || (alwaysBest < 0 && BestCompletion.isNone(value))) return Result.succeed(undefined)
    const index = isObject(value) ? indexOf(value["best_completion_index"]) : undefined
    if (index !== undefined && names[index] === undefined) return Result.succeed(value)
    const named =
      alwaysBest >= 0 ? Result.succeed(alwaysBest) : index === undefined ? best(value, models) : Result.succeed(index)
    return Result.flatMap(
      Result.mapError(named, (reason) => `${gold.name}: ${reason}`),
      (column) => {
        const best_completion_index = there.indexOf(column)
        if (best_completion_index === -1) {
          return Result.fail(
            `${gold.name}: expected a completion that is there, found ${JSON.stringify(names[column])}, which is empty`,
          )
        }
        return Result.succeed(isObject(value) ? { ...value, best_completion_index } : { best_completion_index })
      },
    )
  }

  const read = (row: Row): Result.Result<readonly [value: object, names: ItemDecoder.MemberNames], string> => {
    const { isTextual, value } = row
    const cellsRead = fields.completions.map((field) => field.get(value, isTextual))
    const turns =
      fields.prompt === undefined
        ? Result.succeed([undefined, ...cellsRead])
        : withoutTurns([fields.prompt.get(value, isTextual), ...cellsRead], [fields.prompt.name, ...names])
    if (Result.isFailure(turns)) return Result.fail(turns.failure)
    const [prompt, ...cells] = turns.success
    const there = cells.flatMap((cell, i) => (isEmpty(cell) ? [] : [i]))
    if (there.length < 2 || (there.length < cells.length && !fields.keepIncomplete)) {
      const absent = cells.findIndex(isEmpty)
      const least = fields.keepIncomplete ? "; two completions are the least" : ""
      return Result.fail(`${names[absent]}: expected a completion, found ${describeValue(cells[absent])}${least}`)
    }
    const namesThere = there.map((i) => names[i]!)
    const models = namesOf(fields.models, row) ?? fields.columnModels ?? []
    const modelsThere = there.flatMap((i) => models[i] ?? [])
    const completions = there.map((i) => cells[i])
    const shared: Result.Result<{ readonly prompt: unknown; readonly completions: unknown }, string> =
      fields.prompt === undefined
        ? SharedPrompt.split(completions, namesThere, isTextual)
        : Result.succeed({ prompt, completions })
    if (Result.isFailure(shared)) return Result.fail(shared.failure)
    const gold = goldOf(row, models, there)
    if (Result.isFailure(gold)) return Result.fail(gold.failure)
    const metadata = fields.kept.of(row)
    if (Result.isFailure(metadata)) return Result.fail(metadata.failure)
    const id = fields.id?.get(value, isTextual)
    const item = {
      id: isEmpty(id) ? null : id,
      ...shared.success,
      models: modelsThere.length === there.length ? modelsThere : null,
      gold: gold.success ?? null,
      metadata: metadata.success ?? null,
    }
    const called = {
      ...(fields.id === undefined ? undefined : { id: fields.id.name }),
      ...(fields.prompt === undefined ? undefined : { prompt: fields.prompt.name }),
      ...(fields.gold === undefined ? undefined : { gold: fields.gold.name }),
      completions: { name: namesThere.join(", "), nameAt: (i: number) => namesThere[i]! },
      models: { name: "models", nameAt: (i: number) => fields.models?.[there[i]!]?.name ?? namesThere[i]! },
    }
    return Result.succeed([item, called])
  }

  return (row) => {
    if (!isObject(row.value)) return notAnObject(row)
    const item = read(row)
    return Result.isSuccess(item)
      ? ItemDecoder.decode(item.success[0], row.place, item.success[1], row.isTextual)
      : reject(row.place, "invalid_shape", item.failure)
  }
}

/** -1 where it is none. */
const indexOf = (value: unknown): number => {
  if (typeof value === "number") return value
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : -1
}

const notAnObject = ({ place, value }: Row): Result.Result<never, Result.Result.Failure<SourceRecord>> =>
  reject(place, "invalid_shape", `expected an object, found ${describeValue(value)}`)

const namesOf = (
  fields: ReadonlyArray<Field> | undefined,
  { isTextual, value }: Row,
): ReadonlyArray<string | undefined> | undefined =>
  fields?.map((field) => {
    const name = field.get(value, isTextual)
    if (typeof name === "number") return String(name)
    return typeof name === "string" && name.trim() !== "" ? name : undefined
  })

/** Texts, where all values are lists of one text, or nothing; otherwise the values as they are. */
const withoutTurns = (
  values: ReadonlyArray<unknown>,
  names: ReadonlyArray<string>,
): Result.Result<ReadonlyArray<unknown>, string> => {
  const lists = values.map((value) => (isEmpty(value) ? [] : value))
  if (values.every(isEmpty) || !lists.every(isTurns)) return Result.succeed(values)
  const longer = lists.findIndex(({ length }) => length > 1)
  return longer === -1
    ? Result.succeed(lists.map(([turn]) => turn))
    : Result.fail(
        `${names[longer]}: expected one turn, found ${lists[longer]!.length}, of which the earlier answers differ`,
      )
}

const isTurns = (value: unknown): value is ReadonlyArray<string | null> =>
  Array.isArray(value) && value.every((turn) => typeof turn === "string" || turn === null)
