/**
 * What a validator found in a file: where, what was expected there, and what stands there.
 */
import { Schema } from "effect"

export class Finding extends Schema.TaggedClass<Finding>()("FormatFinding", {
  file: Schema.String,
  /** One-based; in Parquet, the row. */
  line: Schema.Int,
  /** The path in the row, such as `prompt[0].role`; empty for the whole row. */
  field: Schema.String,
  expected: Schema.String,
  found: Schema.String,
  /** An error stops the trainer or makes it drop or mistake the row; a warning is for a person to judge. */
  severity: Schema.Literals(["error", "warning"]),
}) {
  get message() {
    const place = [`${this.file}:${this.line}`, ...(this.field === "" ? [] : [this.field])].join(": ")
    return `${place}: expected ${this.expected}, found ${this.found}`
  }
}
