/** Sorts completions by the prompt's list of models. The gold answer is a model's name or an index in the list. */
import { Result } from "effect"
import * as BestCompletion from "../item/BestCompletion.ts"
import { fromText } from "../record/Field.ts"
import { describeValue, isObject, quoteNames } from "../../io/Values.ts"

export interface PromptModels {
  readonly name: string
  readonly models: ReadonlyArray<string> | undefined
}

export const of = (name: string, value: unknown): PromptModels => ({
  name,
  models: Array.isArray(value) && value.every((model) => typeof model === "string") ? value : undefined,
})

export const sort = <A>(
  { models }: PromptModels,
  completions: ReadonlyArray<A>,
  nameOf: (one: A) => string,
): ReadonlyArray<A> => {
  if (models === undefined) return completions
  const rankOf = (one: A) => {
    const rank = models.indexOf(nameOf(one))
    return rank === -1 ? models.length : rank
  }
  return completions.toSorted((one, other) => rankOf(one) - rankOf(other))
}

export const goldOf = (
  promptModels: PromptModels,
  value: unknown,
  models: ReadonlyArray<string>,
): Result.Result<unknown, string> => {
  const gold = fromText(value)
  if (BestCompletion.isNone(gold)) return Result.succeed(undefined)
  const answer = isObject(gold) ? gold["best_completion_index"] : gold
  const index = BestCompletion.indexOf(answer)
  if (index === undefined && (isObject(gold) || typeof gold !== "string")) return Result.succeed(gold)
  return Result.map(goldIndexOf(promptModels, index ?? String(answer), models), (best_completion_index) =>
    isObject(gold) ? { ...gold, best_completion_index } : { best_completion_index },
  )
}

const goldIndexOf = (
  promptModels: PromptModels,
  answer: number | string,
  models: ReadonlyArray<string>,
): Result.Result<number, string> => {
  if (typeof answer === "number" && promptModels.models === undefined) {
    return Result.fail(
      `the index ${answer} refers to the prompt's list of models, but the prompt has no list at ${promptModels.name}; add the list, or give the model's name instead of the index`,
    )
  }
  const name = typeof answer === "string" ? answer : promptModels.models?.[answer]
  if (name === undefined) {
    return Result.fail(
      `expected an index below ${promptModels.models?.length} (the length of ${promptModels.name}), found ${answer}`,
    )
  }
  const unlistedModels =
    promptModels.models === undefined ? [] : models.filter((model) => promptModels.models?.includes(model) === false)
  if (unlistedModels.length > 0) {
    return Result.fail(
      `${promptModels.name} must list the model of every completion; missing: ${quoteNames(unlistedModels)}`,
    )
  }
  const repeatedModel = [promptModels.models ?? [], models].flatMap((names) =>
    names.filter((one, i) => names.indexOf(one) !== i),
  )[0]
  if (repeatedModel !== undefined)
    return Result.fail(`expected each model once, found ${describeValue(repeatedModel)} twice`)
  const index = models.indexOf(name)
  return index === -1
    ? Result.fail(`expected one of ${quoteNames(models)}, found ${describeValue(name)}`)
    : Result.succeed(index)
}
