/** Types of rows and of their columns, which all file formats share. */
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

/** Writes a list as an array, because `Features.from_dict` of `datasets` before version 4 does not read `List`. */
export const declaration = (features: Features): { readonly [column: string]: Json } =>
  Object.fromEntries(Object.entries(features).map(([name, feature]) => [name, declarationOf(feature)]))

const declarationOf = (feature: Feature): Json => {
  if (typeof feature === "string") return { dtype: feature, _type: "Value" }
  return "list" in feature ? [declarationOf(feature.list)] : declaration(feature.struct)
}
