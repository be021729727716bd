/** Descriptions of fields, from which documents for people and programs are made. */
import type { Schema } from "effect"

/** The schema with a description: one sentence or more, in Markdown. */
export const described = <S extends Schema.Top>(description: string, schema: S): S["Rebuild"] =>
  schema.annotate({ description })
