/**
 * Reads the settings of a dataset back from its manifest, except thresholds, which change no rows. Fails if the
 * manifest only names what rows depend on: a custom pair strategy, or evaluation prompts with another digest.
 */
import { Effect, Schema, Struct } from "effect"
import * as AnnotationPaths from "../api/AnnotationPaths.ts"
import { DatasetUnreadable } from "../dataset/file/DatasetError.ts"
import * as Manifest from "../dataset/Manifest.ts"
import { formatNames } from "../dataset/format/TrainerFormats.ts"
import { strategies } from "../pair/PairStrategy.ts"
import * as Checks from "../pair/Checks.ts"
import * as Consensus from "../pair/votes/Consensus.ts"
import { type DatasetSettings, type ResultsSettings, toManifest } from "./DatasetSettings.ts"

export const notRebuildable = (expected: string, actual: string) =>
  new DatasetUnreadable({
    file: Manifest.fileName,
    expected: `${expected} (needed to rebuild the rows)`,
    found: actual,
  })

const Recorded = Schema.Struct({
  campaign: Schema.NullOr(Schema.Union([Schema.Int, Schema.Literal("all")])),
  pairs: Schema.Struct({ strategy: Schema.String, seed: Schema.optionalKey(Schema.Int) }),
  aggregate: Schema.Literals(Consensus.aggregations),
  ties: Schema.Literals(["drop", "keep"]),
  min_votes: Schema.NullOr(Schema.Int),
  min_agreement: Schema.NullOr(Schema.Finite),
  drop: Schema.Array(Schema.Literals(Checks.dropNames)),
  splits: Schema.NullOr(
    Schema.Struct({
      seed: Schema.Int,
      by: Schema.optionalKey(Schema.String),
      train: Schema.optionalKey(Schema.Finite),
      validation: Schema.optionalKey(Schema.Finite),
      test: Schema.optionalKey(Schema.Finite),
    }),
  ),
  evaluation_prompts: Schema.NullOr(Schema.Struct({ count: Schema.Int, sha256: Schema.String })),
  margin: Schema.Boolean,
  margin_from: Schema.optionalKey(Schema.Literals(["votes", "strength"])),
  edited: Schema.optionalKey(Schema.Literal("chosen")),
  expert_names: Schema.optionalKey(Schema.Boolean),
  annotation_paths: Schema.optionalKey(
    Schema.Record(Schema.Literals(AnnotationPaths.members), Schema.optionalKey(Schema.String)),
  ),
})
const decode = Schema.decodeUnknownEffect(Recorded)

const isStrategy = (name: string): name is keyof typeof strategies => Object.hasOwn(strategies, name)

export const of = Effect.fnUntraced(function* (
  { formats, settings, shape }: Manifest.Manifest,
  evaluationPrompts?: ReadonlyArray<string>,
): Effect.fn.Return<DatasetSettings & ResultsSettings, DatasetUnreadable> {
  const recorded = yield* Effect.mapError(decode(settings), ({ message }) =>
    notRebuildable("the settings of an export", message.replace(/\s+/g, " ")),
  )
  const { pairs, splits } = recorded
  if (!isStrategy(pairs.strategy)) return yield* notRebuildable("a built-in pair strategy", pairs.strategy)
  const { by: splitBy, seed: splitSeed, ...shares } = splits ?? { seed: undefined }
  const needsPrompts = recorded.drop.includes("contamination")
  const digest = toManifest({ evaluationPrompts })["evaluation_prompts"]
  if (needsPrompts && JSON.stringify(digest) !== JSON.stringify(recorded.evaluation_prompts)) {
    const { count = 0 } = recorded.evaluation_prompts ?? {}
    return yield* notRebuildable(
      `the ${count} \`evaluationPrompts\` of the export`,
      `${evaluationPrompts?.length ?? 0} different prompts`,
    )
  }
  return {
    campaign: recorded.campaign ?? undefined,
    ...Struct.pick(recorded, ["aggregate", "ties", "drop", "margin"]),
    pairs: strategies[pairs.strategy](pairs.seed),
    minVotes: recorded.min_votes ?? undefined,
    minAgreement: recorded.min_agreement ?? undefined,
    splits: splits === null ? undefined : shares,
    splitSeed,
    splitBy,
    evaluationPrompts,
    marginFrom: recorded.margin_from,
    edited: recorded.edited,
    expertNames: recorded.expert_names,
    annotationPaths: recorded.annotation_paths,
    conversational: shape === "conversational",
    formats: formatNames.filter((name) => formats.some(({ format }) => format === name)),
    allowEmpty: true,
  }
})
