/** Defines the flags for the settings in `pipeline/DatasetSettings`. A flag and its setting have the same name. */
import { Effect, Option, Record, Struct } from "effect"
import { type Command, Flag } from "effect/cli"
import { formatNames } from "../../dataset/format/TrainerFormats.ts"
import { Split } from "../../domain/Split.ts"
import { strategies } from "../../pair/PairStrategy.ts"
import * as Checks from "../../pair/Checks.ts"
import * as Consensus from "../../pair/votes/Consensus.ts"
import type { Shares } from "../../pair/text/Splits.ts"
import { type DatasetSettings, settingNames } from "../../pipeline/DatasetSettings.ts"
import * as Source from "../../source/Source.ts"
import { defined } from "../../io/Values.ts"
import { type UsageError, usageError } from "../output/ExitStatus.ts"
import { annotationFlags, annotationPathsOf } from "./AnnotationPath.ts"
import { inGroup } from "./Definition.ts"
import { assignment, choice, integer, literals, numberIn, option, parsed, repeated, text } from "./Values.ts"

const isSplit = (name: string): name is Split => Split.literals.some((split) => split === name)

const threshold = parsed(
  "threshold",
  (text) => {
    const [name, value] = assignment(text)
    if (!Checks.isCheckName(name)) return Option.none()
    const [min, max] = Checks.checks[name].range
    return Option.map(numberIn(value, min, max), (value) => [name, value] as const)
  },
  (text) => {
    const [name] = assignment(text)
    return Checks.isCheckName(name)
      ? `CHECK=VALUE, where the VALUE of ${name} is ${Checks.describeRange(name)}`
      : `CHECK=VALUE, where CHECK is one of ${Checks.names.join(", ")}`
  },
)

const split = parsed(
  "split",
  (text) => {
    const [name, value] = assignment(text)
    return isSplit(name) ? Option.map(numberIn(value, 0, 1), (share) => [name, share] as const) : Option.none()
  },
  "SPLIT=SHARE, such as test=0.1, where SPLIT is train, validation, or test",
)

export const datasetFlags = inGroup("DATASET", {
  pairs: literals("pairs", Struct.keys(strategies), "Pairs to make from each item", {
    metavar: "STRATEGY",
    default: "best-against-rest",
  }),
  pairSeed: integer("pair-seed", "Seed for sampling pairs, with --pairs best-against-one", { default: 0 }),
  aggregate: literals(
    "aggregate",
    Consensus.aggregations,
    "Count votes equally, by reliability, or all judges as one",
    { metavar: "METHOD", default: `${Consensus.defaultAggregation}; --people-when: jury` },
  ),
  ...annotationFlags,
  minVotes: integer("min-votes", "Minimum votes per item", { min: 1, default: Consensus.defaults.minVotes }),
  minAgreement: option(
    parsed("min-agreement", (text) => numberIn(text, 0, 1), "a share from 0 to 1"),
    "SHARE",
    "Minimum share of an item's votes for the best completion, from 0 to 1",
    { default: Consensus.defaults.minAgreement },
  ),
  ties: literals(
    "ties",
    ["drop", "keep"],
    "Drop tied items, or keep them (the best mean rank decides, then the earliest vote)",
    { default: Consensus.defaults.ties },
  ),
  drop: repeated(Flag.Literals("drop", Checks.dropNames), "CHECK", "Leave out items that CHECK finds; repeatable"),
  threshold: repeated(
    threshold,
    "CHECK=VALUE",
    "Fail with exit status 6 if the value of CHECK is worse than VALUE; repeatable",
    { isEssential: true, map: "numbers", values: Checks.names.map((name) => `${name}=`) },
  ),
  evaluationPrompts: repeated(
    Flag.File("evaluation-prompts", { mustExist: true }),
    "FILE",
    "JSONL file of evaluation prompts, to find contaminated items; repeatable",
    { path: "whole" },
  ),
  evaluationPath: text(
    "evaluation-path",
    "PATH",
    "Path of the prompt in --evaluation-prompts files, such as turns[0].content",
    { default: "prompt" },
  ),
  split: repeated(
    split,
    "SPLIT=SHARE",
    "Share of items in a split, such as test=0.1; the rest go to train; repeatable",
    { map: "numbers", values: Split.literals.map((name) => `${name}=`) },
  ),
  splitSeed: integer("split-seed", "Seed for splitting items", { default: 0 }),
  splitBy: text("split-by", "FIELD", "Metadata field, such as user: items with the same value are in one split"),
  format: repeated(
    Flag.Literals("format", formatNames),
    "FORMAT",
    "Trainer format to write to formats/FORMAT; repeatable",
    { isEssential: true },
  ),
  margin: choice("margin", "Add a margin in formats that support one"),
  marginFrom: literals(
    "margin-from",
    ["votes", "strength"],
    "Source of the margin: the votes, or the preference strengths that experts gave",
    { default: "votes" },
  ),
  edited: literals(
    "edited",
    ["chosen", "none"],
    "Let an expert's edit replace the chosen completion in trainer formats, or ignore it",
    { default: "none" },
  ),
  conversational: choice("conversational", "Write message lists, or texts (--no-conversational)", {
    default: "true if a prompt is a conversation",
  }),
  expertNames: choice("expert-names", "Write experts' names to the dataset and the report", { default: "pseudonyms" }),
  allowEmpty: choice("allow-empty", "Write a dataset even without pairs", {
    default: "keep the existing dataset, exit with 7",
  }),
  title: text("title", "TEXT", "Name of the dataset on the dataset card"),
  license: text("license", "NAME", "License of the dataset, as a Hugging Face identifier: apache-2.0, cc-by-4.0, …"),
})

type DatasetFlags = Command.Command.Config.Infer<typeof datasetFlags>

const sharesOf = Effect.fnUntraced(function* (
  namedShares: DatasetFlags["split"],
): Effect.fn.Return<Shares, UsageError> {
  const shares = Record.fromEntries(namedShares.filter(([, share]) => share > 0))
  const names = namedShares.map(([split]) => split)
  if (new Set(names).size < namedShares.length) return yield* usageError("--split: name each split only once")
  const sum = namedShares.reduce((sum, [, share]) => sum + share, 0)
  if (sum > 1 + 1e-9 || (names.includes("train") && sum < 1 - 1e-9)) {
    return yield* usageError(`--split: expected shares that add up to 1, found ${Number(sum.toFixed(6))}`)
  }
  const rest = Number((1 - sum).toFixed(9))
  return names.includes("train") || rest <= 0 ? shares : { ...shares, train: rest }
})

export const datasetOf = Effect.fnUntraced(function* (flags: DatasetFlags, pipeline: DatasetSettings = {}) {
  const evaluationPrompts =
    flags.evaluationPrompts.length === 0
      ? pipeline.evaluationPrompts
      : yield* Source.texts(flags.evaluationPrompts, flags.evaluationPath).pipe(
          Effect.mapError(({ message }) => usageError(`--evaluation-prompts: ${message}`)),
        )
  if (evaluationPrompts?.length === 0) return yield* usageError("--evaluation-prompts: expected prompts, found none")
  const findsContamination =
    flags.drop.includes("contamination") || flags.threshold.some(([check]) => check === "contamination")
  if (findsContamination && evaluationPrompts === undefined) {
    return yield* usageError('--drop, --threshold: the check "contamination" requires --evaluation-prompts')
  }
  if (new Set(flags.threshold.map(([check]) => check)).size < flags.threshold.length) {
    return yield* usageError("--threshold: name each check only once")
  }
  return {
    ...Struct.pick({ ...pipeline, ...defined(flags) }, settingNames),
    pairs: flags.pairs === undefined ? pipeline.pairs : strategies[flags.pairs](flags.pairSeed),
    annotationPaths: annotationPathsOf(flags) ?? pipeline.annotationPaths,
    drop: flags.drop.length > 0 ? flags.drop : pipeline.drop,
    thresholds: { ...pipeline.thresholds, ...Record.fromEntries(flags.threshold) },
    evaluationPrompts,
    splits: flags.split.length > 0 ? yield* sharesOf(flags.split) : pipeline.splits,
    formats: flags.format.length > 0 ? [...new Set(flags.format)] : pipeline.formats,
    card: { ...pipeline.card, ...defined({ name: flags.title, license: flags.license }) },
  } satisfies DatasetSettings
})
