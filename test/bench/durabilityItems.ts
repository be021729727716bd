/**
 * The items of durability.ts, 2 kB each: a prompt, two completions, and what an expert says of
 * them. Made of 20,000 words, the frequent ones much more often than the rare, so that they
 * compress about as prose does. The same ordinal always gives the same item.
 */
import { congruential } from "./setup.ts"

let next = congruential(1)
const random = (below: number) => Math.floor((next() / 2 ** 32) * below)

const letters = "etaoinshrdlucmfwypvbgkqjxz"
const vocabulary = Array.from({ length: 20_000 }, () =>
  Array.from({ length: 2 + random(9) }, () => letters[Math.min(random(26), random(26))]!).join(""),
)

const prose = (seed: number, length: number) => {
  next = congruential(Math.imul(seed, 0x9e3779b1) >>> 0)
  let text = ""
  while (text.length < length) {
    const end = random(12) === 0 ? ". " : random(60) === 0 ? " — " : " "
    text += vocabulary[Math.floor(20_000 * (random(65_536) / 65_536) ** 5)]! + end
  }
  return text
}

export const itemOf = (ordinal: number) => ({
  prompt: `${ordinal}: ${prose(ordinal * 4, 400)}?`,
  completions: [prose(ordinal * 4 + 1, 750), prose(ordinal * 4 + 2, 750)],
  metadata: { ordinal },
})

export const rationaleOf = (ordinal: number) => prose(ordinal * 4 + 3, 120)
