/**
 * The experts who may vote, and the rule that sends items from judges to people. Judges are language models (kind
 * `judge`). Scripted rules and gold files are neither judges nor people. `null` voters stand for anyone.
 */
import { Option, Schema } from "effect"
import * as Cost from "./Cost.ts"
import * as Judge from "./Judge.ts"
import * as Prices from "./Prices.ts"

export const Voters = Schema.Literals(["judges", "people"])
export type Voters = typeof Voters.Type

/** A rule such as `jury<0.9`: an item goes to people if the jury's certainty is below this share. */
export type PeopleWhen = `jury<${number}`

export const peopleWhenForm =
  "jury<SHARE, where SHARE is above 0 and at most 1, such as jury<0.9 (people vote if all language models together, the jury, are less than 90% certain)"

export const boundOf = (rule: string): Option.Option<number> => {
  const [, share] = /^\s*jury\s*<\s*(\d+(?:\.\d*)?|\.\d+)\s*$/.exec(rule) ?? []
  const bound = Number(share)
  return bound > 0 && bound <= 1 ? Option.some(bound) : Option.none()
}

/** The highest price of a vote by these voters. */
export const priceOf = (prices: Prices.Prices, voters: Voters | null): Cost.Decimal => {
  if (voters === "judges") return Prices.priceOf(prices, "judge")
  if (voters === null) return Prices.highest(prices)
  const own = [...prices.kinds].flatMap(([kind, price]) => (Judge.roleOf(null, kind) === "person" ? [price] : []))
  return own.reduce(Cost.max, prices.other)
}

/** Returns who votes first on new items: only judges, or anyone (undefined). */
export const votersOf = ({ peopleWhen }: { readonly peopleWhen?: PeopleWhen | undefined }): Voters | undefined =>
  peopleWhen === undefined ? undefined : "judges"
