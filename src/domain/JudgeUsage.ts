/**
 * The costs of a language model's vote; undefined without prices. Both costs include the new requests for this vote.
 * - `paid` also includes earlier requests that led to no vote.
 * - `whole` also includes the requests whose cached answers this vote reused. Another vote paid for these.
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
    usage: Schema.Struct({
      ...tokens,
      cached: Schema.optionalKey(Schema.Struct(tokens)),
      without_vote: Schema.optionalKey(Schema.Struct(tokens)),
    }),
  }),
)

export interface JudgeUsage {
  readonly paid: Cost.Decimal | undefined
  readonly whole: Cost.Decimal | undefined
}

export interface PaidRequests {
  readonly model: string
  readonly requests: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  /** The cost as an exact decimal; null without prices. */
  readonly cost: string | null
}

export const read = (details: unknown): Option.Option<JudgeUsage> =>
  Option.map(decode(details), ({ usage: { cached, cost, without_vote } }) => {
    const exact = (text: string | undefined) => Option.getOrUndefined(Cost.parseExact(text ?? ""))
    const own = exact(cost)
    return { paid: plus(own, exact(without_vote?.cost)), whole: own && plus(own, exact(cached?.cost)) }
  })

export const plus = (a: Cost.Decimal | undefined, b: Cost.Decimal | undefined): Cost.Decimal | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Cost.plus(a, b)
