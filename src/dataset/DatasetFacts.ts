/**
 * What is known of a dataset besides its rows: how it was made, of what, and under which terms.
 *
 * All of it may be left out; what is not given is not in the card and not in the manifest.
 */
import { Schema } from "effect"
import { Judges } from "../domain/Judge.ts"

const text = Schema.optionalKey(Schema.String)

export const InputFile = Schema.Struct({
  file: Schema.String,
  bytes: Schema.optionalKey(Schema.Int),
  /** Hexadecimal. */
  sha256: text,
  /** Of a remote file of which only parts were read: what its server said. */
  etag: text,
  last_modified: text,
  records: Schema.optionalKey(Schema.Int),
})
export type InputFile = typeof InputFile.Type

/** What a manifest records of the way to the dataset. */
export const Provenance = Schema.Struct({
  inputs: Schema.optionalKey(Schema.Array(InputFile)),
  /** Who judged, people or not. */
  judges: Schema.optionalKey(Judges),
  /** Where they did. */
  service: Schema.optionalKey(Schema.Struct({ name: text, url: text })),
  /** What the experts were told, or its name. */
  guidelines: text,
  /** All that the rows depend on besides inputs and judgments, such as `{ strategy: "best-against-rest" }`. */
  settings: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  /** In the order of the flow, such as `{ read: 252, submitted: 252, judged: 250 }`. */
  counts: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int)),
})
export type Provenance = typeof Provenance.Type

export interface DatasetFacts extends Provenance {
  /** The card's title. */
  readonly name?: string
  /** What the dataset is, as Markdown. */
  readonly description?: string
  /** As the Hub names licenses: `apache-2.0`, `cc-by-4.0`. */
  readonly license?: string
  /** ISO 639-1. */
  readonly languages?: ReadonlyArray<string>
  /** Besides `preference` and `rlhf`. */
  readonly tags?: ReadonlyArray<string>
  /** How it was made, step by step: a heading and a paragraph of Markdown each. */
  readonly methods?: ReadonlyArray<{ readonly title: string; readonly text: string }>
}
