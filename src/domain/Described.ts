/** Attaches a description to a field. Guides, dataset cards, and schemas are generated from the descriptions. */
import type { Schema } from "effect"

export const described = <S extends Schema.Top>(description: string, schema: S): S["Rebuild"] =>
  schema.annotate({ description })
