/** The splits of a dataset, with the names that the Hugging Face Hub and trainers use. */
import { Schema } from "effect"

/** The name of a split: `train`, `validation`, or `test`. */
export const Split = Schema.Literals(["train", "validation", "test"])
export type Split = typeof Split.Type

export const splits: ReadonlyArray<Split> = Split.literals
