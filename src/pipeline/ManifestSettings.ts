/** Reads a dataset's settings from its manifest. Thresholds are not read, because they change no rows. */
import { Effect, Schema } from "effect"
import { DatasetUnreadable } from "../dataset/file/DatasetError.ts"
import * as Manifest from "../dataset/Manifest.ts"
import { formatNames } from "../dataset/format/TrainerFormats.ts"
import { strategies } from "../pair/PairStrategy.ts"
import { type DatasetSettings, type ResultsSettings, fromManifest, toManifest } from "./DatasetSettings.ts"

export const notRebuildable = (what: string, actual: string) =>
  new DatasetUnreadable({ file: Manifest.fileName, expected: `${what} (needed to rebuild the rows)`, found: actual })

const Recorded = Schema.Struct({
  campaign: Schema.NullOr(Schema.Union([Schema.Int, Schema.Literal("all")])),
  pairs: Schema.Struct({ strategy: Schema.String, seed: Schema.optionalKey(Schema.Int) }),
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
})
const decode = Schema.decodeUnknownEffect(Recorded)

const isStrategy = (name: string): name is keyof typeof strategies => Object.hasOwn(strategies, name)

export const of = Effect.fnUntraced(function* (
  { formats, settings, shape }: Manifest.Manifest,
  evaluationPrompts?: ReadonlyArray<string>,
): Effect.fn.Return<DatasetSettings & ResultsSettings, DatasetUnreadable> {
  const [recorded, others] = yield* Effect.mapError(
    Effect.all([decode(settings), fromManifest(settings)]),
    ({ message }) => notRebuildable("the settings of an export", message.replace(/\s+/g, " ")),
  )
  const { pairs, splits } = recorded
  if (!isStrategy(pairs.strategy)) return yield* notRebuildable("a built-in pair strategy", pairs.strategy)
  const { by: splitBy, seed: splitSeed, ...shares } = splits ?? { seed: undefined }
  const needsPrompts = others.drop?.includes("contamination") === true
  const digest = toManifest({ evaluationPrompts })["evaluation_prompts"]
  if (needsPrompts && JSON.stringify(digest) !== JSON.stringify(recorded.evaluation_prompts)) {
    const { count = 0 } = recorded.evaluation_prompts ?? {}
    return yield* notRebuildable(
      `the ${count} \`evaluationPrompts\` of the export`,
      `${evaluationPrompts?.length ?? 0} different prompts`,
    )
  }
  return {
    ...others,
    campaign: recorded.campaign ?? undefined,
    pairs: strategies[pairs.strategy](pairs.seed),
    splits: splits === null ? undefined : shares,
    splitSeed,
    splitBy,
    evaluationPrompts,
    conversational: shape === "conversational",
    formats: formatNames.filter((name) => formats.some(({ format }) => format === name)),
    allowEmpty: true,
  }
})
