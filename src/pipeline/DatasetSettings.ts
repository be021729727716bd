/**
 * Settings of a dataset. To add a setting that leaves out items, extend `CurationOptions` in `pair/Curation`. To add
 * any other setting, extend `DatasetSettings` here. In both cases, also add the setting to `table`, and a flag to
 * `cli/flags/DatasetFlags`. If a new setting has its default value, write `undefined` to the manifest.
 * Otherwise, earlier manifests, which lack the setting, cannot be read.
 */
import { Effect, Record, Schema, Struct } from "effect"
import * as AnnotationPaths from "../api/AnnotationPaths.ts"
import { type DatasetFacts, factsKind } from "../dataset/DatasetFacts.ts"
import type { FormatName, TrainerFormat } from "../dataset/format/TrainerFormats.ts"
import * as TrainerFiles from "../dataset/TrainerFiles.ts"
import * as FieldPath from "../io/FieldPath.ts"
import { didYouMean } from "../io/NearestName.ts"
import { defined, describeValue } from "../io/Values.ts"
import * as Sha256 from "../node/Sha256.ts"
import * as Checks from "../pair/Checks.ts"
import type { CurationOptions } from "../pair/Curation.ts"
import { bestAgainstRest, settingsOf } from "../pair/PairStrategy.ts"
import * as Splits from "../pair/text/Splits.ts"
import * as Consensus from "../pair/votes/Consensus.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { SettingInvalid } from "../io/SettingInvalid.ts"

type Shares = Splits.Shares
type ToManifest = (settings: DatasetSettings) => Schema.Json | undefined

/** Settings that turn judgments into a dataset. */
export interface DatasetSettings extends CurationOptions {
  /**
   * How several votes become one choice. `majority` counts votes. `dawid-skene` weights each vote by the expert's
   * reliability. `jury` weights votes in the same way, but counts the votes of all judges on an item as one vote.
   * Default: `jury` if items go from judges to people (`peopleWhen`), otherwise `majority`.
   */
  readonly aggregate?: Consensus.Aggregation | undefined
  /** Paths of annotations that are not in the contract's fields, such as `{ strength: "preference.strength" }`. */
  readonly annotationPaths?: AnnotationPaths.AnnotationPaths | undefined
  /** Share of the items per split, such as `{ test: 0.1 }`. Other items are in `train`. Default: all in `train`. */
  readonly splits?: Shares | undefined
  /** Seed for assigning items to splits, a whole number. Default 0. */
  readonly splitSeed?: number | undefined
  /** A field of the items' metadata, such as `source.user`. Items with equal values share a split. Default: none. */
  readonly splitBy?: string | undefined
  /** Trainer formats to write in addition to the dataset: built-in ones by name, or custom ones. */
  readonly formats?: ReadonlyArray<FormatName | TrainerFormat> | undefined
  /** Whether to add a `margin` to formats that support one. */
  readonly margin?: boolean | undefined
  /** The margin: votes for `chosen` minus votes for `rejected`, or the strength that experts gave. Default `votes`. */
  readonly marginFrom?: "votes" | "strength" | undefined
  /** If `chosen`, trainer files contain an expert's edit in place of the chosen completion. Default `none`. */
  readonly edited?: "chosen" | "none" | undefined
  /** Whether the dataset has prompts and completions as lists of messages. Default: true if the job has such lists. */
  readonly conversational?: boolean | undefined
  /** Whether to use the experts' real names. Default false: an expert has one pseudonym in all exports of the job. */
  readonly expertNames?: boolean | undefined
  /** Whether to write a dataset that has no pairs, even if it overwrites a dataset with pairs. Default false. */
  readonly allowEmpty?: boolean | undefined
  /** Facts for the card that are not in the ledger. */
  readonly card?: Pick<DatasetFacts, "name" | "description" | "license" | "languages" | "tags"> | undefined
}

/** Settings for reading results. Use the same settings for the dataset and for all reports on its votes. */
export interface ResultsSettings extends Pick<DatasetSettings, "annotationPaths"> {
  /** Default: the campaign of the last run. With `"all"`, an item that two campaigns judged counts as two items. */
  readonly campaign?: number | "all" | undefined
}

export const wholeShares = (shares: Shares): Shares => {
  const rest = 1 - Object.values(shares).reduce<number>((sum, share) => sum + (share ?? 0), 0)
  return shares.train === undefined && rest > 1e-9 ? { ...shares, train: Number(rest.toFixed(9)) } : shares
}

const table: {
  readonly [Name in keyof Required<DatasetSettings>]: readonly [
    kind: Kinds.SettingKind,
    ...([] | [ToManifest, recorded: Schema.Decoder<DatasetSettings[Name] | null> | undefined]),
  ]
} = {
  pairs: [Kinds.fn, ({ pairs = bestAgainstRest }) => settingsOf(pairs), undefined],
  aggregate: [
    Kinds.text,
    ({ aggregate = Consensus.defaultAggregation }) => aggregate,
    Schema.Literals(Consensus.aggregations),
  ],
  ties: [Kinds.text, ({ ties = "drop" }) => ties, Schema.Literals(["drop", "keep"])],
  minVotes: [Kinds.number, ({ minVotes = null }) => minVotes, Schema.NullOr(Schema.Int)],
  minAgreement: [Kinds.number, ({ minAgreement = null }) => minAgreement, Schema.NullOr(Schema.Finite)],
  drop: [Kinds.texts, ({ drop = [] }) => drop, Schema.Array(Schema.Literals(Checks.dropNames))],
  thresholds: [Kinds.object, ({ thresholds = {} }) => defined(thresholds), undefined],
  checks: [
    Kinds.list,
    ({ checks = [] }) =>
      checks.length === 0 ? undefined : checks.map(({ name, threshold = null }) => ({ name, threshold })),
    undefined,
  ],
  splits: [
    Kinds.shares,
    ({ splitBy: by, splits, splitSeed: seed = 0 }) =>
      splits === undefined ? null : { ...defined(wholeShares(splits)), seed, ...defined({ by }) },
    undefined,
  ],
  splitSeed: [Kinds.number],
  splitBy: [Kinds.text],
  evaluationPrompts: [
    Kinds.texts,
    ({ evaluationPrompts: prompts }) =>
      prompts === undefined ? null : { count: prompts.length, sha256: Sha256.hex(JSON.stringify(prompts)) },
    undefined,
  ],
  conversational: [Kinds.flag, ({ conversational = false }) => conversational, undefined],
  margin: [Kinds.flag, ({ margin = false }) => margin, Schema.Boolean],
  marginFrom: [
    Kinds.text,
    ({ margin, marginFrom = "votes" }) => (margin === true ? marginFrom : undefined),
    Schema.Literals(["votes", "strength"]),
  ],
  edited: [Kinds.text, ({ edited }) => (edited === "chosen" ? edited : undefined), Schema.Literal("chosen")],
  expertNames: [Kinds.flag, ({ expertNames }) => expertNames === true || undefined, Schema.Boolean],
  annotationPaths: [
    Kinds.recordOf("an object with field paths", Kinds.anyText),
    ({ annotationPaths: paths }) => paths && defined(paths),
    Schema.Record(Schema.Literals(AnnotationPaths.members), Schema.optionalKey(Schema.String)),
  ],
  formats: [Kinds.list],
  allowEmpty: [Kinds.flag],
  card: [factsKind],
}

export const settingNames = Struct.keys(table)

export const settingKinds = Record.map(table, ([kind]) => kind)

const members = Object.entries(table).map(([name, [, toManifest, recorded]]) => {
  const member = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const isOptional = toManifest?.({}) === undefined
  return { name, member, toManifest, schema: recorded && isOptional ? Schema.optionalKey(recorded) : recorded }
})

export const toManifest = (settings: DatasetSettings): { readonly [member: string]: Schema.Json | undefined } =>
  defined(Object.fromEntries(members.map(({ member, toManifest }) => [member, toManifest?.(settings)])))

const Recorded = Schema.Struct(
  Object.fromEntries(members.flatMap(({ member, schema }) => (schema ? [[member, schema]] : []))),
)

export const fromManifest = (manifest: unknown) =>
  Effect.map(Schema.decodeUnknownEffect(Recorded)(manifest), (recorded): DatasetSettings =>
    Object.fromEntries(members.map(({ member, name }) => [name, recorded[member] ?? undefined])),
  )

const wrong = function* (
  settings: DatasetSettings,
): Generator<readonly [setting: string, expected: string, found: unknown]> {
  const { checks = [], drop = [], formats = [], thresholds = {}, minAgreement, minVotes } = settings
  const badFormat = TrainerFiles.problemOf(formats)
  const isOneOf = (names: ReadonlyArray<string>, name: unknown) => names.some((each) => each === name)
  for (const [name, threshold] of Object.entries(thresholds)) {
    if (!Checks.isCheckName(name))
      yield ["thresholds", `one of ${Checks.names.join(", ")}`, name + didYouMean(name, Checks.names)]
    else if (threshold !== undefined && !Checks.isThreshold(name, threshold))
      yield [`thresholds.${name}`, Checks.describeRange(name), threshold]
  }
  for (const name of drop)
    if (!isOneOf(Checks.dropNames, name))
      yield ["drop", `one of ${Checks.dropNames.join(", ")}`, name + didYouMean(name, Checks.dropNames)]
  if (badFormat !== undefined) yield ["formats", badFormat.expected, badFormat.found]
  for (const [i, check] of checks.entries()) {
    if (!Checks.isOwn(check))
      yield [`checks[${i}]`, "an object with `name`, `measure`, and `valueOf`", describeValue(check)]
    else if (isOneOf(Checks.names, check.name) || checks.findIndex(({ name }) => name === check.name) < i)
      yield [`checks[${i}].name`, "a name that no other check has", check.name]
    else if (check.threshold !== undefined && !Number.isFinite(check.threshold))
      yield [`checks[${i}].threshold`, "a number", check.threshold]
  }
  if (minVotes !== undefined && !(Number.isSafeInteger(minVotes) && minVotes >= 1))
    yield ["minVotes", "1 or more", minVotes]
  if (minAgreement !== undefined && !(minAgreement >= 0 && minAgreement <= 1))
    yield ["minAgreement", "a share from 0 to 1", minAgreement]
  if (settings.aggregate !== undefined && !isOneOf(Consensus.aggregations, settings.aggregate))
    yield ["aggregate", `one of ${Consensus.aggregations.join(", ")}`, settings.aggregate]
  for (const [name, path] of Object.entries(settings.annotationPaths ?? {})) {
    if (!AnnotationPaths.isMember(name)) yield ["annotationPaths", `one of ${AnnotationPaths.members.join(", ")}`, name]
    else if (path !== undefined && FieldPath.parse(path)._tag === "Failure")
      yield [`annotationPaths.${name}`, "a field path", path]
  }
  if (!isOneOf(["votes", "strength"], settings.marginFrom ?? "votes"))
    yield ["marginFrom", "votes or strength", settings.marginFrom]
  if (!isOneOf(["chosen", "none"], settings.edited ?? "none")) yield ["edited", "chosen or none", settings.edited]
  if (!isOneOf(["drop", "keep"], settings.ties ?? "drop")) yield ["ties", "drop or keep", settings.ties]
  if (settings.evaluationPrompts?.length === 0) yield ["evaluationPrompts", "at least one prompt", "an empty list"]
}

export const validate = Effect.fn("DatasetSettings.validate")(function* (settings: DatasetSettings) {
  for (const [setting, expected, value] of wrong(settings)) {
    return yield* new SettingInvalid({ setting, expected, found: String(value) })
  }
  if (settings.splits !== undefined)
    yield* Effect.scoped(Splits.make({ shares: wholeShares(settings.splits), seed: settings.splitSeed }))
})
