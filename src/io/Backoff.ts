/** The wait doubles after each retry. `jittered` adds ±20%, so that clients do not retry all at once. */
import { type Duration, Effect, Random, Schedule } from "effect"

export const exponential = (first: Duration.Input, max: Duration.Input) =>
  Schedule.min([Schedule.exponential(first), Schedule.spaced(max)])

export const millisAfter = (failures: number, first: number, max: number): number =>
  Math.min(first * 2 ** Math.min(failures - 1, 30), max)

export const jittered = (millis: number): Effect.Effect<number> =>
  Effect.map(Random.nextBetween(0.8, 1.2), (factor) => millis * factor)
