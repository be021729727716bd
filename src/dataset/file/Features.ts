/** Rows and the types of their columns, shared by all file formats. */
import { Record, type Schema } from "effect"

/** A value that JSON has. */
export type Json = Schema.Json

/** One line of a JSON Lines file, or one row of a Parquet file: columns by name. */
export type JsonRow = { readonly [column: string]: Json }

/** A column's type, with the names of `datasets`. Every value may be null. */
export type Feature =
  | "string"
  | "bool"
  | "int32"
  | "float64"
  | "null"
  | { readonly list: Feature }
  | { readonly struct: Features }

export type Features = { readonly [column: string]: Feature }

/** The features as `datasets` writes them, for its `Features.from_dict`. */
export const declaration = (features: Features): { readonly [column: string]: Json } =>
  Record.map(features, declarationOf)

const declarationOf = (feature: Feature): Json => {
  if (typeof feature === "string") return { dtype: feature, _type: "Value" }
  return "list" in feature
    ? { feature: declarationOf(feature.list), _type: "List" }
    : Record.map(feature.struct, declarationOf)
}
