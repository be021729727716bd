/**
 * A leaderboard with its intervals, beside a loop that fits each resample from its votes on:
 * `node test/bench/leaderboard.ts [votes] [models] [resamples]`; needs no build.
 *
 * The votes are of planted abilities, each on an item of its own, an eighth of them ties. The loop draws votes, not counts
 * of outcomes, and maximizes the same likelihood by gradient ascent with the step of the curvature's bound, from zero on:
 * what a script does without counts, second derivatives, or a start. It fits a few resamples, and its time is scaled. Both
 * fit the same resamples to the same abilities, within 0.001, else this fails. Exits with 1 where prefstream takes more
 * than 10 s, is less than 20 times as fast, or takes more than 300 MB of memory in all.
 */
import type { Leaderboard as Board } from "../../src/domain/Leaderboard.ts"
import * as Leaderboard from "../../src/pair/rating/Leaderboard.ts"
import * as BradleyTerry from "../../src/pair/stats/BradleyTerry.ts"
import type { ItemVote } from "../../src/pair/votes/ItemVotes.ts"
import { seeded } from "../pair/stats/support.ts"
import { median, numbers } from "./setup.ts"

const [votes, models, resamples] = numbers(100_000, 50, 1_000)
const [rounds, loops] = [3, 2]
const prior = Leaderboard.defaultPrior

const random = seeded(1)
const below = (limit: number) => Math.floor(random() * limit)
const abilities = Array.from({ length: models }, () => 2 * random() - 1)
const [one, other, outcome] = [new Uint32Array(votes), new Uint32Array(votes), new Int8Array(votes)]
for (let i = 0; i < votes; i++) {
  one[i] = below(models)
  other[i] = (one[i]! + 1 + below(models - 1)) % models
  const win = 1 / (1 + Math.exp(abilities[other[i]!]! - abilities[one[i]!]!))
  outcome[i] = random() < 0.125 ? 0 : random() < win ? 1 : -1
}
const names = Array.from({ length: models }, (_, i) => `model-${i}`)
const completions = ["a completion", "another completion"]
const voteOf = (choice: number): ItemVote => ({
  expert: null,
  choice,
  ranking: undefined,
  position: choice,
  order: [0, 1],
  seconds: null,
  rationale: null,
})
const ballots = [voteOf(1), { ...voteOf(0), ranking: [[0, 1]] as const }, voteOf(0)]

const prefstream = (): Board => {
  const board = Leaderboard.make()
  for (let i = 0; i < votes; i++) {
    board.add({ completions, models: [names[one[i]!]!, names[other[i]!]!] }, [ballots[outcome[i]! + 1]!])
  }
  return board.finish({ resamples })!
}

/** λ and ln ν of these votes. */
const loop = (drawn: Uint32Array): Float64Array => {
  const parameters = new Float64Array(models + 1)
  const gradient = new Float64Array(models + 1)
  const degree = new Float64Array(models)
  for (const i of drawn) {
    degree[one[i]!]!++
    degree[other[i]!]!++
  }
  for (let iteration = 0; iteration < 2_000; iteration++) {
    gradient.fill(0)
    const nu = Math.exp(parameters[models]!)
    for (const i of drawn) {
      const [a, b] = [one[i]!, other[i]!]
      const half = Math.exp((parameters[a]! - parameters[b]!) / 2)
      const total = half + 1 / half + nu
      const slope = (outcome[i]! - (half - 1 / half) / total) / 2
      gradient[a]! += slope
      gradient[b]! -= slope
      gradient[models]! += (outcome[i] === 0 ? 1 : 0) - nu / total
    }
    let longest = 0
    for (let i = 0; i <= models; i++) {
      if (i < models) gradient[i]! -= parameters[i]! / (prior * prior)
      // The curvature in λ is at most a quarter per vote, twice that with the other player; in ln ν a quarter.
      const step = gradient[i]! / (i < models ? degree[i]! / 2 : drawn.length / 4)
      parameters[i]! += step
      longest = Math.max(longest, Math.abs(step))
    }
    if (longest < 1e-6) break
  }
  // Only the prior, which is weak, says where their mean is.
  const mean = parameters.subarray(0, models).reduce((sum, ability) => sum + ability, 0) / models
  return parameters.map((value, i) => (i < models ? value - mean : value))
}

/** The same votes, fitted by prefstream. */
const fitOf = (drawn: Uint32Array): Float64Array => {
  const counts = Float64Array.from({ length: 3 * votes }, () => 0)
  for (const i of drawn) counts[3 * i + 1 - outcome[i]!]!++
  const { abilities, tie } = BradleyTerry.make({ players: models, one, other, covariates: [] }, prior)(counts)
  return Float64Array.of(...abilities, Math.log(tie))
}

const timed = <A>(run: () => A): readonly [A, number] => {
  const begun = performance.now()
  return [run(), (performance.now() - begun) / 1000]
}

const times = { loop: [] as Array<number>, prefstream: [] as Array<number> }
let board: Board | undefined
let furthest = 0
for (let round = 0; round < rounds; round++) {
  const [found, seconds] = timed(prefstream)
  board = found
  times.prefstream.push(seconds)
}
const memory = process.resourceUsage().maxRSS / 1000
for (let i = 0; i < loops; i++) {
  const drawn = Uint32Array.from({ length: votes }, () => below(votes))
  const [fitted, seconds] = timed(() => loop(drawn))
  times.loop.push(seconds)
  for (const [j, value] of fitOf(drawn).entries()) furthest = Math.max(furthest, Math.abs(value - fitted[j]!))
}

const inside = board!.models.filter(({ model, rating }) => {
  const mean = abilities.reduce((sum, ability) => sum + ability, 0) / models
  const truth = 1000 + (400 / Math.LN10) * (abilities[names.indexOf(model)]! - mean)
  return rating.low! <= truth && truth <= rating.high!
}).length
const [seconds, slow] = [median(times.prefstream), median(times.loop) * resamples]
console.log(`${votes} votes, ${models} models, ${resamples} resamples: ${board!.ties} ties`)
console.log(`the planted ability is in the 95% interval of ${inside} of ${models} models`)
console.log(
  `loop ${(slow / resamples).toFixed(2)} s per resample; largest difference of a parameter ${furthest.toExponential(1)}`,
)
console.log(
  `${seconds.toFixed(2)} s (at most 10), ${(slow / seconds).toFixed(0)} times as fast (at least 20), ${memory.toFixed(0)} MB (at most 300)`,
)
process.exitCode = seconds <= 10 && slow / seconds >= 20 && memory <= 300 && furthest < 1e-3 ? 0 : 1
