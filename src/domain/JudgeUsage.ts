/**
 * The tokens of a language model's vote and their cost, as `details.usage` of the vote has them.
 *
 * Guarantees: `paid` is what the vote itself cost; `whole` adds answers of earlier requests that were not sent again, so
 * it is what the vote would cost anew. A cost is undefined if the judge had no prices.
 */
import { Option, Schema } from "effect"
import * as Cost from "./Cost.ts"

const tokens = {
  requests: Schema.Int,
  prompt_tokens: Schema.Int,
  completion_tokens: Schema.Int,
  cost: Schema.optionalKey(Schema.String),
}
const decode = Schema.decodeUnknownOption(
  Schema.Struct({
    usage: Schema.Struct({ ...tokens, cached: Schema.optionalKey(Schema.Struct(tokens)) }),
  }),
)

export interface JudgeUsage {
  readonly requests: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly paid: Cost.Decimal | undefined
  readonly whole: Cost.Decimal | undefined
}

/** Reads the usage from a vote's details. */
export const read = (details: unknown): Option.Option<JudgeUsage> =>
  Option.map(decode(details), ({ usage: { cached, completion_tokens, cost, prompt_tokens, requests } }) => {
    const exact = (text: string | undefined) => Option.getOrUndefined(Cost.parseExact(text ?? ""))
    const paid = exact(cost)
    return {
      requests,
      promptTokens: prompt_tokens,
      completionTokens: completion_tokens,
      paid,
      whole: paid && Cost.plus(paid, exact(cached?.cost) ?? Cost.zero),
    }
  })

/** Adds costs. Undefined if all are. */
export const plus = (a: Cost.Decimal | undefined, b: Cost.Decimal | undefined): Cost.Decimal | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Cost.plus(a, b)
