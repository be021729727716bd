/** How many cases a test draws: fewer by default, so that `npm test` is quick; all with `ALL_CASES=1`. */
import { randomInt } from "node:crypto"

export const allCases = process.env["ALL_CASES"] !== undefined

export const cases = <A>(usual: A, all: A): A => (allCases ? all : usual)

/** One of some cases that are much alike, another one in each run; each of them with `ALL_CASES=1`. The test's name says which. */
export const drawn = <A>(alike: ReadonlyArray<A>): ReadonlyArray<A> =>
  allCases ? alike : [alike[randomInt(alike.length)]!]
