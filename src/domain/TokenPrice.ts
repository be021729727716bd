/** Prices of a language model per million tokens, and the cost of requests as exact decimals. */
import { Option } from "effect"
import * as Cost from "./Cost.ts"

export interface TokenPrice {
  readonly input: Cost.Amount
  readonly output: Cost.Amount
  /** Price of a million prompt tokens in a batch. Default: half of `input`. */
  readonly batchInput?: Cost.Amount | undefined
  /** Price of a million completion tokens in a batch. Default: half of `output`. */
  readonly batchOutput?: Cost.Amount | undefined
}

export const form =
  "MODEL=INPUT/OUTPUT, prices per million tokens, such as gpt-4o-mini=0.15/0.60; add /INPUT/OUTPUT for batch prices"

export interface RequestTokens {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly batched: boolean
}

const half = ({ scale, units }: Cost.Decimal): Cost.Decimal => ({ units: units * 5n, scale: scale + 1 })

const digitsOfMillion = 6

export const reader = ({ batchInput, batchOutput, input, output }: TokenPrice) =>
  Option.map(
    Option.all({
      prices: Option.all([Cost.parse(input), Cost.parse(output)]),
      batch: Option.all(
        [batchInput, batchOutput].map((price) => (price === undefined ? Option.some(undefined) : Cost.parse(price))),
      ),
    }),
    ({ batch, prices }) => {
      const batchPrices = prices.map((price, i) => batch[i] ?? half(price))
      return ({ batched, completionTokens, promptTokens }: RequestTokens): Cost.Decimal => {
        const [ofPrompt, ofCompletion] = batched ? batchPrices : prices
        const { scale, units } = Cost.plus(
          Cost.times(ofPrompt!, promptTokens),
          Cost.times(ofCompletion!, completionTokens),
        )
        return Cost.shortest({ units, scale: scale + digitsOfMillion })
      }
    },
  )

export const parse = (text: string): Option.Option<readonly [model: string, price: TokenPrice]> => {
  const [, model, input, output, batchInput, batchOutput] =
    /^(.+)=([\d.]+)\/([\d.]+)(?:\/([\d.]+)\/([\d.]+))?$/.exec(text) ?? []
  if (model === undefined || input === undefined || output === undefined) return Option.none()
  const price = { input, output, batchInput, batchOutput }
  return Option.as(reader(price), [model, price] as const)
}
