/** How many cases a test draws: few by default, so that `npm test` is quick; more in CI; all with `ALL_CASES=1`. */
import { randomInt } from "node:crypto"

export const allCases = process.env["ALL_CASES"] !== undefined
export const manyCases = allCases || process.env["CI"] !== undefined

export const cases = <A>(usual: A, all: A): A => (allCases ? all : usual)

/** One of some cases that are much alike, another one in each run; each of them with `ALL_CASES=1`. The test's name says which. */
export const drawn = <A>(alike: ReadonlyArray<A>): ReadonlyArray<A> =>
  allCases ? alike : [alike[randomInt(alike.length)]!]

/** `PREFSTREAM_THREADS` of the processes that are killed: each stage in a thread, or none; another one in each run, or `THREADS`. */
export const threads = process.env["THREADS"] ?? String(randomInt(2))

/** For long tests that are much alike, numbered from 0: whether one is left out. Every `share`th is run, others in each run. */
export const leftOut = (share: number) => {
  const run = randomInt(share)
  return (test: number): boolean => !allCases && test % share !== run
}

/** Each run tries one of this many shares of the crash points. */
export const crashShares = 24
