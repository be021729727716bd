/** Facts about a dataset, in addition to its rows. The card and the manifest leave out unknown facts. */
import { Schema } from "effect"
import { InputFile } from "../domain/InputFile.ts"
import { Judges } from "../domain/Judge.ts"
import * as Kinds from "../io/SettingKinds.ts"

const text = Schema.optionalKey(Schema.String)

export const Provenance = Schema.Struct({
  inputs: Schema.optionalKey(
    Schema.Array(Schema.Struct({ ...InputFile.fields, bytes: Schema.optionalKey(Schema.Int) })),
  ),
  judges: Schema.optionalKey(Judges),
  service: Schema.optionalKey(Schema.Struct({ name: text, url: text })),
  /** The text or the name of the guidelines for the experts. */
  guidelines: text,
  /** Everything else that the rows depend on, such as `{ strategy: "best-against-rest" }`. */
  settings: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  /** Counts by stage, such as `{ read: 252, submitted: 252, judged: 250 }`. */
  counts: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int)),
})
export type Provenance = typeof Provenance.Type

/** Facts for the card and the manifest. Unknown facts are left out. */
export interface DatasetFacts extends Provenance {
  /** The card's title. */
  readonly name?: string
  /** A description of the dataset, as Markdown. */
  readonly description?: string
  /** The license's identifier on the Hub, such as `apache-2.0`. */
  readonly license?: string
  /** Languages as ISO 639-1 codes. */
  readonly languages?: ReadonlyArray<string>
  /** Tags in addition to `preference` and `rlhf`. */
  readonly tags?: ReadonlyArray<string>
  /** How the dataset was made: one section per step, in Markdown. */
  readonly methods?: ReadonlyArray<{ readonly title: string; readonly text: string }>
}

// prettier-ignore
const kinds: Kinds.KindsOf<DatasetFacts> = {
  name: Kinds.anyText, description: Kinds.anyText, license: Kinds.anyText, languages: Kinds.texts, tags: Kinds.texts,
  methods: Kinds.list, inputs: Kinds.list, judges: Kinds.object, service: Kinds.object, guidelines: Kinds.anyText,
  settings: Kinds.object, counts: Kinds.object,
}
export const factsKind = Kinds.objectOf("an object with facts, such as `name` and `license`", kinds)
