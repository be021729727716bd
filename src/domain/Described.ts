/** Attaches descriptions to fields. Documents for people and programs are generated from them. */
import type { Schema } from "effect"

/** Adds a description to the schema: one or more sentences in Markdown. */
export const described = <S extends Schema.Top>(description: string, schema: S): S["Rebuild"] =>
  schema.annotate({ description })
