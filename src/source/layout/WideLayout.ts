/** A list of one text, as in the LMSYS Chatbot Arena, is read as this text. Longer lists are refused. */
import { Result } from "effect"
import * as ItemDecoder from "../item/ItemDecoder.ts"
import { reject, type Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import * as BestCompletion from "../item/BestCompletion.ts"
import { type Field, fromText } from "../record/Field.ts"
import * as OptionText from "../../io/OptionText.ts"
import { describeValue, isEmpty, isObject } from "../../io/Values.ts"
import type { MetadataReader } from "../item/Metadata.ts"
import * as SharedPrompt from "./SharedPrompt.ts"

export interface WideFields {
  readonly id: Field | undefined
  readonly prompt: Field | undefined
  readonly completions: ReadonlyArray<Field>
  readonly models: ReadonlyArray<Field> | undefined
  readonly columnModels: ReadonlyArray<string> | undefined
  readonly gold: Field | undefined
  readonly kept: MetadataReader
  readonly keepIncomplete: boolean
}

export const toRecord = (fields: WideFields): ((row: Row) => SourceRecord) => {
  const names = fields.completions.map(({ name }) => name)
  const best = BestCompletion.among(fields.completions.map(({ label }) => label))
  const bestColumn = fields.completions.findIndex(({ label }) => label === fields.gold?.label)

  const goldOf = (
    row: Row,
    models: ReadonlyArray<string | undefined>,
    present: ReadonlyArray<number>,
  ): Result.Result<unknown, string> => {
    const { gold } = fields
    const value = gold === undefined || bestColumn >= 0 ? undefined : fromText(gold.get(row.value, row.isTextual))
    if (gold === undefined || (bestColumn < 0 && BestCompletion.isNone(value))) return Result.succeed(undefined)
    const index = isObject(value) ? (BestCompletion.indexOf(value["best_completion_index"]) ?? -1) : undefined
    if (index !== undefined && names[index] === undefined) return Result.succeed(value)
    const goldColumn =
      bestColumn >= 0 ? Result.succeed(bestColumn) : index === undefined ? best(value, models) : Result.succeed(index)
    return Result.flatMap(
      Result.mapError(goldColumn, (reason) => `${gold.name}: ${reason}`),
      (column) => {
        const best_completion_index = present.indexOf(column)
        if (best_completion_index === -1) {
          return Result.fail(
            `${gold.name}: expected a column with a completion, found the empty column ${JSON.stringify(names[column])}`,
          )
        }
        return Result.succeed(isObject(value) ? { ...value, best_completion_index } : { best_completion_index })
      },
    )
  }

  const read = (row: Row): Result.Result<readonly [value: object, names: ItemDecoder.MemberNames], string> =>
    Result.gen(function* () {
      const { isTextual, value } = row
      if (!isObject(value)) return yield* Result.fail(`expected an object, found ${describeValue(value)}`)
      const completionCells = fields.completions.map((field) => field.get(value, isTextual))
      const [prompt, ...cells] =
        fields.prompt === undefined
          ? [undefined, ...completionCells]
          : yield* unwrapTurns(
              [fields.prompt.get(value, isTextual), ...completionCells],
              [fields.prompt.name, ...names],
            )
      const present = cells.flatMap((cell, i) => (isEmpty(cell) ? [] : [i]))
      if (present.length < 2 || (present.length < cells.length && !fields.keepIncomplete)) {
        const absent = cells.findIndex(isEmpty)
        const keep = `. To keep such items without the missing completions, set ${OptionText.set({ missing: "keep" })}`
        const note = fields.keepIncomplete ? "; at least two completions are needed" : present.length < 2 ? "" : keep
        return yield* Result.fail(
          `${names[absent]}: expected a completion, found ${describeValue(cells[absent])}${note}`,
        )
      }
      const presentNames = present.map((i) => names[i]!)
      const models = namesOf(fields.models, row) ?? fields.columnModels ?? []
      const presentModels = present.flatMap((i) => models[i] ?? [])
      const completions = present.map((i) => cells[i])
      const shared =
        fields.prompt === undefined
          ? yield* SharedPrompt.split(completions, presentNames, isTextual)
          : { prompt, completions }
      const gold = yield* goldOf(row, models, present)
      const metadata = yield* fields.kept.of(row)
      const id = fields.id?.get(value, isTextual)
      const item = {
        id: isEmpty(id) ? null : id,
        ...shared,
        models: presentModels.length === present.length ? presentModels : null,
        gold: gold ?? null,
        metadata: metadata ?? null,
      }
      const memberNames = {
        ...(fields.id === undefined ? undefined : { id: fields.id.name }),
        ...(fields.prompt === undefined ? undefined : { prompt: fields.prompt.name }),
        ...(fields.gold === undefined ? undefined : { gold: fields.gold.name }),
        completions: { name: presentNames.join(", "), nameAt: (i: number) => presentNames[i]! },
        models: { name: "models", nameAt: (i: number) => fields.models?.[present[i]!]?.name ?? presentNames[i]! },
      }
      return [item, memberNames] as const
    })

  return (row) => {
    const item = read(row)
    return Result.isSuccess(item)
      ? ItemDecoder.decode(item.success[0], row.place, item.success[1], row.isTextual)
      : reject(row.place, "invalid_shape", item.failure)
  }
}

const namesOf = (
  fields: ReadonlyArray<Field> | undefined,
  { isTextual, value }: Row,
): ReadonlyArray<string | undefined> | undefined =>
  fields?.map((field) => {
    const name = field.get(value, isTextual)
    if (typeof name === "number") return String(name)
    return typeof name === "string" && name.trim() !== "" ? name : undefined
  })

const unwrapTurns = (
  values: ReadonlyArray<unknown>,
  names: ReadonlyArray<string>,
): Result.Result<ReadonlyArray<unknown>, string> => {
  const lists = values.map((value) => (isEmpty(value) ? [] : typeof value === "string" ? [value] : value))
  if (!values.some(Array.isArray) || !lists.every(isTurns)) return Result.succeed(values)
  const multiTurn = lists.findIndex(({ length }) => length > 1)
  return multiTurn === -1
    ? Result.succeed(lists.map(([turn]) => turn))
    : Result.fail(
        `${names[multiTurn]}: expected one turn, found ${lists[multiTurn]!.length} turns; after the first turn, the models' conversations differ, so their answers cannot be compared`,
      )
}

const isTurns = (value: unknown): value is ReadonlyArray<string | null> =>
  Array.isArray(value) && value.every((turn) => typeof turn === "string" || turn === null)
