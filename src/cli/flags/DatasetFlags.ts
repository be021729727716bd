/** The flags that say what becomes of judgments: choices, filters, pairs, limits, splits, formats, and the card. */
import { Effect, Option, Record, Struct } from "effect"
import { Flag } from "effect/cli"
import { type FormatName, formatNames } from "../../dataset/format/TrainerFormats.ts"
import { Split } from "../../domain/Split.ts"
import { bestAgainstOne, bestAgainstRest, fullRanking, type PairStrategy } from "../../pair/PairStrategy.ts"
import * as Checks from "../../pair/Checks.ts"
import type { Shares } from "../../pair/text/Splits.ts"
import type { DatasetSettings } from "../../pipeline/DatasetSettings.ts"
import * as Source from "../../source/Source.ts"
import { UsageError } from "../output/ExitStatus.ts"

/** By a seed, for those that draw. */
const strategies = {
  "best-against-rest": () => bestAgainstRest,
  "best-against-one": bestAgainstOne,
  "full-ranking": () => fullRanking,
} as const satisfies { readonly [name: string]: (seed?: number) => PairStrategy }

const numberIn = (text: string, least: number, most: number): Option.Option<number> => {
  const number = Number(text)
  return /^-?\d/.test(text) && number >= least && number <= most ? Option.some(number) : Option.none()
}

const share = (name: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("SHARE"),
    Flag.filterMap(
      (text) => numberIn(text, 0, 1),
      () => "a share from 0 to 1",
    ),
  )

/** `NAME=VALUE`, split at the first `=`. */
const assignment = (text: string): readonly [name: string, value: string] => {
  const at = text.indexOf("=")
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
}

const isSplit = (name: string): name is Split => Split.literals.some((split) => split === name)

const limit = Flag.String("limit").pipe(
  Flag.withMetavar("CHECK=VALUE"),
  Flag.filterMap(
    (text) => {
      const [name, value] = assignment(text)
      if (!Checks.isCheckName(name)) return Option.none()
      const [least, most] = Checks.checks[name].range
      return Option.map(numberIn(value, least, most), (value) => [name, value] as const)
    },
    (text) => {
      const [name] = assignment(text)
      return Checks.isCheckName(name)
        ? `CHECK=VALUE, where the VALUE of ${name} is ${Checks.describeRange(name)}`
        : `CHECK=VALUE, where CHECK is one of ${Checks.names.join(", ")}`
    },
  ),
  Flag.withDescription(
    `Write no dataset, and exit with 6, if a check finds worse than this; once for each check: ${Checks.names.join(", ")}`,
  ),
  Flag.atLeast(0),
)

const split = Flag.String("split").pipe(
  Flag.withMetavar("SPLIT=SHARE"),
  Flag.filterMap(
    (text) => {
      const [name, value] = assignment(text)
      return isSplit(name) ? Option.map(numberIn(value, 0, 1), (share) => [name, share] as const) : Option.none()
    },
    () => "SPLIT=SHARE, such as test=0.1, where SPLIT is train, validation or test",
  ),
  Flag.withDescription(
    "Share of the items in a split, such as test=0.1; once for each split. What is left over is in train (default: all)",
  ),
  Flag.atLeast(0),
)

export const datasetFlags = {
  pairs: Flag.Literals("pairs", Struct.keys(strategies)).pipe(
    Flag.withDescription(
      "Pairs of an item: the best completion against each of the rest, or against one that is drawn; or, where the experts ranked, each two of which one is ranked higher (default: best-against-rest)",
    ),
    Flag.optional,
  ),
  pairSeed: Flag.Int("pair-seed").pipe(
    Flag.withDescription("With best-against-one: another whole number is another draw (default: 0)"),
    Flag.optional,
  ),
  aggregate: Flag.Literals("aggregate", ["majority", "dawid-skene"]).pipe(
    Flag.withDescription(
      "How several votes become one choice: the most votes, or weighed by how reliable the experts are (default: majority)",
    ),
    Flag.optional,
  ),
  minVotes: Flag.Int("min-votes").pipe(
    Flag.withMetavar("N"),
    Flag.filter(
      (votes) => votes >= 1,
      () => "expected 1 or more",
    ),
    Flag.withDescription("Leave out items with fewer votes (default: 1)"),
    Flag.optional,
  ),
  minAgreement: share("min-agreement").pipe(
    Flag.withDescription("Leave out items of several votes of which a smaller share went to the best (default: 0)"),
    Flag.optional,
  ),
  ties: Flag.Literals("ties", ["drop", "keep"]).pipe(
    Flag.withDescription(
      "Items whose votes leave several that are best: leave them out, or keep them with the one that was ranked higher, or chosen first (default: drop)",
    ),
    Flag.optional,
  ),
  drop: Flag.Literals("drop", Checks.dropNames).pipe(
    Flag.withDescription("Leave out the items that a check finds; once for each check"),
    Flag.atLeast(0),
  ),
  limits: limit,
  evaluationPrompts: Flag.File("evaluation-prompts", { mustExist: true }).pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("JSONL file of prompts that no item may hold, for the check contamination; may be repeated"),
    Flag.atLeast(0),
  ),
  evaluationPath: Flag.String("evaluation-path").pipe(
    Flag.withMetavar("PATH"),
    Flag.withDescription("Where the prompt stands in those files, such as turns[0].content (default: prompt)"),
    Flag.optional,
  ),
  splits: split,
  splitSeed: Flag.Int("split-seed").pipe(
    Flag.withDescription("Another whole number draws other splits (default: 0)"),
    Flag.optional,
  ),
  formats: Flag.Literals("format", formatNames).pipe(
    Flag.withDescription("A trainer's format to be written besides, into formats/FORMAT; may be repeated"),
    Flag.atLeast(0),
  ),
  margin: Flag.Boolean("margin").pipe(
    Flag.withDescription("Write a margin from the votes in the formats that have one"),
    Flag.optional,
  ),
  conversational: Flag.Boolean("conversational").pipe(
    Flag.withDescription(
      "Prompt, chosen and rejected as lists of messages; --no-conversational: as text (default: where any prompt of the input is a list of messages)",
    ),
    Flag.optional,
  ),
  title: Flag.String("title").pipe(Flag.withDescription("The dataset's name, on its card"), Flag.optional),
  license: Flag.String("license").pipe(
    Flag.withDescription("The dataset's license, as the Hub names it: apache-2.0, cc-by-4.0, …"),
    Flag.optional,
  ),
}

interface DatasetFlags {
  readonly pairs: Option.Option<keyof typeof strategies>
  readonly pairSeed: Option.Option<number>
  readonly aggregate: Option.Option<"majority" | "dawid-skene">
  readonly minVotes: Option.Option<number>
  readonly minAgreement: Option.Option<number>
  readonly ties: Option.Option<"drop" | "keep">
  readonly drop: ReadonlyArray<Checks.DropName>
  readonly limits: ReadonlyArray<readonly [check: Checks.CheckName, limit: number]>
  readonly evaluationPrompts: ReadonlyArray<string>
  readonly evaluationPath: Option.Option<string>
  readonly splits: ReadonlyArray<readonly [split: Split, share: number]>
  readonly splitSeed: Option.Option<number>
  readonly formats: ReadonlyArray<FormatName>
  readonly margin: Option.Option<boolean>
  readonly conversational: Option.Option<boolean>
  readonly title: Option.Option<string>
  readonly license: Option.Option<string>
}

/** The shares of the splits that are named, with the rest in train. */
const sharesOf = Effect.fnUntraced(function* (given: DatasetFlags["splits"]): Effect.fn.Return<Shares, UsageError> {
  const shares = Record.fromEntries(given.filter(([, share]) => share > 0))
  if (new Set(given.map(([split]) => split)).size < given.length) {
    return yield* new UsageError({ message: "--split: name each split once" })
  }
  const sum = given.reduce((sum, [, share]) => sum + share, 0)
  const names = given.map(([split]) => split)
  if (sum > 1 + 1e-9 || (names.includes("train") && sum < 1 - 1e-9)) {
    return yield* new UsageError({
      message: `--split: expected shares that add up to 1, found ${Number(sum.toFixed(6))}`,
    })
  }
  const rest = Number((1 - sum).toFixed(9))
  return names.includes("train") || rest <= 0 ? shares : { ...shares, train: rest }
})

/** What the flags say of the dataset, and the pipeline where they say nothing. */
export const datasetOf = Effect.fnUntraced(function* (flags: DatasetFlags, pipeline: DatasetSettings = {}) {
  const { pairs, pairSeed } = flags
  if (Option.isSome(pairSeed) && !Option.contains(pairs, "best-against-one")) {
    return yield* new UsageError({ message: "--pair-seed: only with --pairs best-against-one, which draws" })
  }
  if (Option.isSome(flags.evaluationPath) && flags.evaluationPrompts.length === 0) {
    return yield* new UsageError({ message: "--evaluation-path: only with --evaluation-prompts" })
  }
  const hasSplits = flags.splits.length > 0 || pipeline.splits !== undefined
  if (Option.isSome(flags.splitSeed) && !hasSplits) {
    return yield* new UsageError({ message: "--split-seed: only with --split" })
  }
  const evaluationPrompts =
    flags.evaluationPrompts.length === 0
      ? pipeline.evaluationPrompts
      : yield* Source.texts(flags.evaluationPrompts, Option.getOrUndefined(flags.evaluationPath)).pipe(
          Effect.mapError(({ message }) => new UsageError({ message: `--evaluation-prompts: ${message}` })),
        )
  const checksContamination =
    flags.drop.includes("contamination") || flags.limits.some(([check]) => check === "contamination")
  if (evaluationPrompts?.length === 0) {
    return yield* new UsageError({ message: "--evaluation-prompts: expected prompts, found none" })
  }
  if (checksContamination && evaluationPrompts === undefined) {
    return yield* new UsageError({
      message: "--drop, --limit: contamination can be found with --evaluation-prompts only",
    })
  }
  if (new Set(flags.limits.map(([check]) => check)).size < flags.limits.length) {
    return yield* new UsageError({ message: "--limit: name each check once" })
  }
  return {
    pairs: Option.match(pairs, {
      onNone: () => pipeline.pairs,
      onSome: (name): PairStrategy => strategies[name](Option.getOrUndefined(pairSeed)),
    }),
    aggregate: Option.getOrElse(flags.aggregate, () => pipeline.aggregate),
    minVotes: Option.getOrElse(flags.minVotes, () => pipeline.minVotes),
    minAgreement: Option.getOrElse(flags.minAgreement, () => pipeline.minAgreement),
    ties: Option.getOrElse(flags.ties, () => pipeline.ties),
    drop: flags.drop.length > 0 ? flags.drop : pipeline.drop,
    limits: { ...pipeline.limits, ...Record.fromEntries(flags.limits) },
    evaluationPrompts,
    splits: flags.splits.length > 0 ? yield* sharesOf(flags.splits) : pipeline.splits,
    splitSeed: Option.getOrElse(flags.splitSeed, () => pipeline.splitSeed),
    formats: flags.formats.length > 0 ? [...new Set(flags.formats)] : pipeline.formats,
    margin: Option.getOrElse(flags.margin, () => pipeline.margin),
    conversational: Option.getOrElse(flags.conversational, () => pipeline.conversational),
    card: {
      ...pipeline.card,
      ...(Option.isSome(flags.title) ? { name: flags.title.value } : {}),
      ...(Option.isSome(flags.license) ? { license: flags.license.value } : {}),
    },
  } satisfies DatasetSettings
})
