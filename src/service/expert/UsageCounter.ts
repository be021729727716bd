/**
 * Counts the requests and tokens of a judgment, and their cost.
 *
 * Guarantees: what earlier judgments paid for (`cached`) is apart from what this one paid for.
 */
import type { Schema } from "effect"
import * as Cost from "../../domain/Cost.ts"
import type { RequestTokens } from "../../domain/TokenPrice.ts"
import type { Completion } from "./JudgeEndpoint.ts"

export interface UsageCounter {
  readonly add: (completion: Completion) => void
  /** The name of the model in its last answer. */
  readonly model: () => string | undefined
  readonly toJson: () => { readonly [member: string]: Schema.Json }
}

/** @param costOf the cost of a request; undefined without prices */
export const make = (costOf: ((tokens: RequestTokens) => Cost.Decimal) | undefined): UsageCounter => {
  const paid: Array<Completion> = []
  const cached: Array<Completion> = []
  let model: string | undefined
  const sum = (completions: ReadonlyArray<Completion>) => ({
    requests: completions.length,
    prompt_tokens: completions.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    completion_tokens: completions.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
    ...(costOf !== undefined && {
      cost: Cost.format(Cost.shortest(completions.map(costOf).reduce(Cost.plus, Cost.zero))),
    }),
  })
  return {
    add: (completion) => {
      ;(completion.isCached ? cached : paid).push(completion)
      model = completion.model
    },
    model: () => model,
    toJson: () => ({ ...sum(paid), ...(cached.length > 0 && { cached: sum(cached) }) }),
  }
}
