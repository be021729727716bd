/** The names of a dataset's settings. The type check fails if one is missing. */
import type { DatasetSettings } from "./DatasetSettings.ts"

// prettier-ignore
export const datasetSettings = {
  aggregate: true, allowEmpty: true, annotationPaths: true, card: true, conversational: true, drop: true, edited: true,
  evaluationPrompts: true, expertNames: true, formats: true, margin: true, marginFrom: true, minAgreement: true,
  minVotes: true, splitSeed: true, splits: true, thresholds: true, ties: true, pairs: true,
} satisfies { readonly [Name in keyof Required<DatasetSettings>]: true }
