/**
 * The list of models in a prompt's record, and the order and gold that it implies for the joined completions.
 *
 * Guarantees: a gold index refers to this list, whatever the order of the files; a gold name is that of a model;
 * anything else is a failure.
 */
import { Result } from "effect"
import * as BestCompletion from "../item/BestCompletion.ts"
import { fromText } from "../record/Field.ts"
import { describeValue, isObject, quoteNames } from "../../io/Values.ts"

export interface PromptModels {
  /** Where the list is, or is searched for. */
  readonly name: string
  /** Nothing where there is none. */
  readonly models: ReadonlyArray<string> | undefined
}

export const of = (name: string, value: unknown): PromptModels => ({
  name,
  models: Array.isArray(value) && value.every((model) => typeof model === "string") ? value : undefined,
})

/** In the order of the list; those that it does not have stay behind the others, in their order. */
export const sort = <A>(
  { models }: PromptModels,
  found: ReadonlyArray<A>,
  nameOf: (one: A) => string,
): ReadonlyArray<A> => {
  if (models === undefined) return found
  const rankOf = (one: A) => {
    const rank = models.indexOf(nameOf(one))
    return rank === -1 ? models.length : rank
  }
  return found.toSorted((one, other) => rankOf(one) - rankOf(other))
}

/**
 * Gold as an item has it; nothing where there is none. The failure is the reason, without path.
 *
 * @param models of the item's completions, in their order
 */
export const goldOf = (
  own: PromptModels,
  given: unknown,
  models: ReadonlyArray<string>,
): Result.Result<unknown, string> => {
  const gold = fromText(given)
  if (BestCompletion.isNone(gold)) return Result.succeed(undefined)
  const answer = isObject(gold) ? gold["best_completion_index"] : gold
  const index = BestCompletion.indexOf(answer)
  // What has no index is for the schema to refuse.
  if (index === undefined && (isObject(gold) || typeof gold !== "string")) return Result.succeed(gold)
  return Result.map(place(own, index ?? String(answer), models), (best_completion_index) =>
    isObject(gold) ? { ...gold, best_completion_index } : { best_completion_index },
  )
}

const place = (
  own: PromptModels,
  answer: number | string,
  models: ReadonlyArray<string>,
): Result.Result<number, string> => {
  if (typeof answer === "number" && own.models === undefined) {
    return Result.fail(
      `an index counts in a list of models, of which there is none at ${own.name}; found ${answer}: add the list, or name the model`,
    )
  }
  const name = typeof answer === "string" ? answer : own.models?.[answer]
  if (name === undefined) {
    return Result.fail(`expected an index below ${own.models?.length}, the number of ${own.name}, found ${answer}`)
  }
  const unknown = own.models === undefined ? [] : models.filter((model) => own.models?.includes(model) === false)
  if (unknown.length > 0) {
    return Result.fail(
      `expected an answer among all completions, found one among ${own.name}, without ${quoteNames(unknown)}`,
    )
  }
  const double = [own.models ?? [], models].flatMap((names) => names.filter((one, i) => names.indexOf(one) !== i))[0]
  if (double !== undefined) return Result.fail(`expected each model once, found ${describeValue(double)} twice`)
  const found = models.indexOf(name)
  return found === -1
    ? Result.fail(`expected one of ${quoteNames(models)}, found ${describeValue(name)}`)
    : Result.succeed(found)
}
