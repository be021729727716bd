/** The parts of a dataset, as the Hub and trainers name them. */
import { Schema } from "effect"

export const Split = Schema.Literals(["train", "validation", "test"])
export type Split = typeof Split.Type

/** In the order in which they are written. */
export const splits: ReadonlyArray<Split> = Split.literals
