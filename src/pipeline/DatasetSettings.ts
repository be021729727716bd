/** Settings of a dataset: how votes are combined, filters, pair strategy, thresholds, splits, formats, and texts of its card. */
import { Effect, Schema } from "effect"
import * as AnnotationPaths from "../api/AnnotationPaths.ts"
import type { DatasetFacts } from "../dataset/DatasetFacts.ts"
import { type FormatName, formatNames } from "../dataset/format/TrainerFormats.ts"
import * as FieldPath from "../io/FieldPath.ts"
import * as Checks from "../pair/Checks.ts"
import type { CurationOptions } from "../pair/Curation.ts"
import * as Splits from "../pair/text/Splits.ts"
import * as Consensus from "../pair/votes/Consensus.ts"

type Shares = Splits.Shares

/** Which campaign is written: a number, all, or, without it, that of the last run. */
export type Which = number | "all" | undefined

/** How judgments become a dataset. */
export interface DatasetSettings extends CurationOptions {
  /**
   * How several votes become one choice: the most votes, or those of reliable experts more than others'
   * (Dawid & Skene, 1979). Default `majority`.
   */
  readonly aggregate?: Consensus.Aggregation | undefined
  /** Where another service's annotations have what prefstream reads, such as `{ strength: "preference.strength" }`. */
  readonly annotationPaths?: AnnotationPaths.AnnotationPaths | undefined
  /** Shares of the items, such as `{ test: 0.1 }`; what is left over is in `train`. Default: all are in `train`. */
  readonly splits?: Shares | undefined
  /** Another whole number draws other splits. Default 0. */
  readonly splitSeed?: number | undefined
  /** Formats of trainers that are written besides. */
  readonly formats?: ReadonlyArray<FormatName> | undefined
  /** Whether those formats that have one get a `margin`. */
  readonly margin?: boolean | undefined
  /** What the margin is: the votes for `chosen` less those for `rejected`, or the strength that experts gave. Default `votes`. */
  readonly marginFrom?: "votes" | "strength" | undefined
  /** `chosen`: the files for trainers have an expert's edit in place of the completion. Default `none`. */
  readonly edited?: "chosen" | "none" | undefined
  /** Whether prompt, chosen and rejected are lists of messages, or text. Default: messages where the prompt of any planned item is such a list. */
  readonly conversational?: boolean | undefined
  /** Whether dataset and report name the experts as votes do. Default false: each has a pseudonym, the same in all exports of the job. */
  readonly expertNames?: boolean | undefined
  /** Whether a dataset without pairs is written, and replaces one that has some. Default false: the existing one is kept. */
  readonly allowEmpty?: boolean | undefined
  /** What the card says that the ledger does not know. */
  readonly card?: Pick<DatasetFacts, "name" | "description" | "license" | "languages" | "tags"> | undefined
}

/** Which results are read, and how: the same for the dataset and for all that tells of its votes. */
export interface ResultsSettings extends Pick<DatasetSettings, "annotationPaths"> {
  /** Default: that of the last run. In `"all"`, an item counts as another one in each campaign. */
  readonly campaign?: Which
}

/** A setting of a dataset that can't be followed; said before anything is submitted. */
export class DatasetSettingsInvalid extends Schema.TaggedError<DatasetSettingsInvalid>()("DatasetSettingsInvalid", {
  /** Such as `thresholds.longer-chosen`. */
  setting: Schema.String,
  /** The allowed values, in words. */
  expected: Schema.String,
  /** The value that was given, as text. */
  found: Schema.String,
}) {
  override get message() {
    return `${this.setting}: expected ${this.expected}, found ${this.found}`
  }
}

/** The shares with what is left over in train. */
export const wholeShares = (shares: Shares): Shares => {
  const rest = 1 - Object.values(shares).reduce<number>((sum, share) => sum + (share ?? 0), 0)
  return shares.train === undefined && rest > 1e-9 ? { ...shares, train: Number(rest.toFixed(9)) } : shares
}

/** What is wrong with settings that no compiler has seen. */
const wrong = function* (
  settings: DatasetSettings,
): Generator<readonly [setting: string, expected: string, found: unknown]> {
  const { drop = [], formats = [], thresholds = {}, minAgreement, minVotes } = settings
  const isOneOf = (names: ReadonlyArray<string>, name: unknown) => names.some((known) => known === name)
  for (const [name, threshold] of Object.entries(thresholds)) {
    if (!isOneOf(Checks.names, name)) yield ["thresholds", `names among ${Checks.names.join(", ")}`, name]
    else if (threshold !== undefined && !Checks.isThreshold(name, threshold))
      yield [`thresholds.${name}`, Checks.describeRange(name), threshold]
  }
  for (const name of drop)
    if (!isOneOf(Checks.dropNames, name)) yield ["drop", `names among ${Checks.dropNames.join(", ")}`, name]
  for (const name of formats)
    if (!isOneOf(formatNames, name)) yield ["formats", `names among ${formatNames.join(", ")}`, name]
  if (minVotes !== undefined && !(Number.isSafeInteger(minVotes) && minVotes >= 1))
    yield ["minVotes", "1 or more", minVotes]
  if (minAgreement !== undefined && !(minAgreement >= 0 && minAgreement <= 1)) {
    yield ["minAgreement", "a share from 0 to 1", minAgreement]
  }
  if (settings.aggregate !== undefined && !isOneOf(Consensus.aggregations, settings.aggregate))
    yield ["aggregate", Consensus.aggregations.join(" or "), settings.aggregate]
  for (const [name, path] of Object.entries(settings.annotationPaths ?? {})) {
    if (!AnnotationPaths.isMember(name))
      yield ["annotationPaths", `names among ${AnnotationPaths.members.join(", ")}`, name]
    else if (path !== undefined && FieldPath.parse(path)._tag === "Failure")
      yield [`annotationPaths.${name}`, "a field path", path]
  }
  if (!isOneOf(["votes", "strength"], settings.marginFrom ?? "votes"))
    yield ["marginFrom", "votes or strength", settings.marginFrom]
  if (!isOneOf(["chosen", "none"], settings.edited ?? "none")) yield ["edited", "chosen or none", settings.edited]
  if (!isOneOf(["drop", "keep"], settings.ties ?? "drop")) yield ["ties", "drop or keep", settings.ties]
  if (settings.evaluationPrompts?.length === 0) yield ["evaluationPrompts", "prompts", "none"]
}

/** Fails with the first setting that can't be followed. */
export const validate = Effect.fn("DatasetSettings.validate")(function* (settings: DatasetSettings) {
  for (const [setting, expected, found] of wrong(settings)) {
    return yield* new DatasetSettingsInvalid({ setting, expected, found: String(found) })
  }
  if (settings.splits !== undefined)
    yield* Effect.scoped(Splits.make({ shares: wholeShares(settings.splits), seed: settings.splitSeed }))
})
