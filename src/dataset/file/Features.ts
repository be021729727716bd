import type { Schema } from "effect"

export type Json = Schema.Json

/** One line of a JSON Lines file, or one row of a Parquet file: columns by name. */
export type JsonRow = { readonly [column: string]: Json }

/** A column's type, with the name that `datasets` gives it. Every value can be null. */
export type Feature =
  | "string"
  | "bool"
  | "int32"
  | "float64"
  | "null"
  | { readonly list: Feature }
  | { readonly struct: Features }

/** The columns of a file by name, with their types. */
export type Features = { readonly [column: string]: Feature }

/**
 * The features for `Features.from_dict` of `datasets`. Versions before 4 do not read the newer `List`
 * (features/features.py of 3.6.0 and 5.0.1).
 */
export const declaration = (features: Features): { readonly [column: string]: Json } =>
  Object.fromEntries(Object.entries(features).map(([name, feature]) => [name, declarationOf(feature)]))

const declarationOf = (feature: Feature): Json => {
  if (typeof feature === "string") return { dtype: feature, _type: "Value" }
  return "list" in feature ? [declarationOf(feature.list)] : declaration(feature.struct)
}
