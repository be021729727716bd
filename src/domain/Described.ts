/** Attaches descriptions to fields, from which documents for people and programs are generated. */
import type { Schema } from "effect"

export const described = <S extends Schema.Top>(description: string, schema: S): S["Rebuild"] =>
  schema.annotate({ description })
