/**
 * Sums the tokens and the cost of a vote's requests. `cached` sums the requests whose cost another vote includes.
 * `without_vote` sums the requests of earlier judgments that gave no vote.
 */
import type { Schema } from "effect"
import * as Cost from "../../domain/Cost.ts"
import type { RequestTokens } from "../../domain/TokenPrice.ts"
import type { Completion } from "./JudgeEndpoint.ts"

export const make = (costOf: ((tokens: RequestTokens) => Cost.Decimal) | undefined) => {
  const paid: Array<Completion> = []
  const cached: Array<Completion> = []
  let model: string | undefined
  const sum = (completions: ReadonlyArray<RequestTokens>) => ({
    requests: completions.length,
    prompt_tokens: completions.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    completion_tokens: completions.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
    ...(costOf !== undefined && {
      cost: Cost.format(Cost.shortest(completions.map(costOf).reduce(Cost.plus, Cost.zero))),
    }),
  })
  return {
    add: (completion: Completion) => {
      ;(completion.isCached ? cached : paid).push(completion)
      model = completion.model
    },
    model: () => model,
    requests: () => [...paid, ...cached].map(({ request }) => request),
    toJson: (withoutVote: ReadonlyArray<RequestTokens>): { readonly [member: string]: Schema.Json } => ({
      ...sum(paid),
      ...(cached.length > 0 && { cached: sum(cached) }),
      ...(withoutVote.length > 0 && { without_vote: sum(withoutVote) }),
    }),
  }
}

export type UsageCounter = ReturnType<typeof make>
