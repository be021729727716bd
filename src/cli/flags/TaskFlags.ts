/** Defines the flags for making tasks from items: guidelines, batches, votes, shuffling, gold items, and costs. */
import { Effect, FileSystem, Option, Result, Schema, Struct } from "effect"
import { type Command, Flag } from "effect/cli"
import * as Guidelines from "../../api/Guidelines.ts"
import { defaultConfidence } from "../../pair/votes/NextVotes.ts"
import type * as Pipeline from "../../pipeline/Pipeline.ts"
import * as Cost from "../../domain/Cost.ts"
import * as Prices from "../../domain/Prices.ts"
import { rlhfRanking } from "../../domain/Task.ts"
import { boundOf, type PeopleWhen, peopleWhenForm } from "../../domain/Voters.ts"
import * as GoldFile from "../../source/GoldFile.ts"
import { type BatchLimits, defaultLimits } from "../../task/plan/Batch.ts"
import { defaultSeed } from "../../task/plan/CompletionDraw.ts"
import { defaultRate, maxRate } from "../../task/plan/GoldItems.ts"
import { defaultShuffleSeed } from "../../task/ledger/schema/Model.ts"
import { defaultMaxAttempts, groupForm, isGroup, type SubmitOptions } from "../../task/Submit.ts"
import { usageError } from "../output/ExitStatus.ts"
import type { InputFlags } from "./InputFlags.ts"
import { inGroup } from "./Definition.ts"
import { choice, file, integer, option, parsed, repeated, text, toggle } from "./Values.ts"

const maxVotes = 100

const Rate = Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(maxRate))

const Confidence = Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThan(1))

export const votesForm = `a number from 1 to ${maxVotes}, or a range such as 2..5`

export const parseVotes = (text: string): Option.Option<Pick<SubmitOptions, "votes" | "votesUpTo">> => {
  const [, least, most] = /^(\d{1,3})(?:\.\.(\d{1,3}))?$/.exec(text) ?? []
  const [votes, votesUpTo] = [Number(least), Number(most ?? least)]
  return votes >= 1 && votesUpTo >= votes && votesUpTo <= maxVotes
    ? Option.some(most === undefined ? { votes } : { votes, votesUpTo })
    : Option.none()
}

const parsePeopleWhen = (text: string): Option.Option<PeopleWhen> =>
  Option.map(boundOf(text), (bound): PeopleWhen => `jury<${bound}`)

export const batchFlags = inGroup("TASKS", {
  keepReordered: toggle(
    "keep-reordered",
    "Treat items that differ only in the order of their completions as different items",
    { group: "INPUT" },
  ),
  batchSize: integer("batch-size", "Maximum prompts per task", { min: 1, default: defaultLimits.maxPrompts }),
  batchBytes: integer("batch-bytes", "Maximum bytes of prompts and completions per task", {
    min: 1,
    default: defaultLimits.maxBytes,
  }),
  votes: option(
    parsed("votes", parseVotes, votesForm),
    "N[..M]",
    "Billable votes per new item: N experts, or up to M if the best is unclear",
    { default: "the service's", isEssential: true },
  ),
  confidence: option(
    Flag.Finite("confidence").pipe(Flag.withSchema(Confidence)),
    "SHARE",
    "Stop voting if a completion is the best with probability SHARE (with --votes N..M)",
    { default: defaultConfidence },
  ),
  peopleWhen: option(
    parsed("people-when", parsePeopleWhen, peopleWhenForm),
    "jury<SHARE",
    "Let AI judges give N votes, and ask people if the certainty is below SHARE (with --votes N..M)",
  ),
  completionsPerItem: integer(
    "completions-per-item",
    "Send at most N completions of each item, sampled evenly across models",
    { min: 2, default: "all" },
  ),
  completionsSeed: integer("completions-seed", "Seed for sampling completions", { default: defaultSeed }),
})

export const itemFlags = inGroup("TASKS", {
  guidelines: text("guidelines", "TEXT", "Instructions for the experts", { replaces: ["guidelines-file"] }),
  guidelinesFile: file("guidelines-file", "File with the instructions for the experts", {
    isEssential: true,
    replaces: ["guidelines"],
  }),
  rubric: file("rubric", "File (YAML) with further questions to the experts, added to the guidelines"),
  taskType: text("task-type", "TYPE", "Type of tasks (task_type in requests); a change requires --new-campaign", {
    default: rlhfRanking,
  }),
  ...batchFlags,
  group: option(
    parsed("group", Option.liftPredicate(isGroup), groupForm),
    "NAME",
    "Name of this job's task group at the service",
    { default: '"JOB, campaign NUMBER", if supported' },
  ),
  shuffle: choice("shuffle", "Shuffle each item's completions for each vote; --no-shuffle keeps their order", {
    default: "true",
  }),
  shuffleSeed: integer("shuffle-seed", "Seed for shuffling completions", { default: defaultShuffleSeed }),
  gold: file("gold", "File of gold items (with known answers) to measure experts, in any input format; never exported"),
  goldRate: option(
    Flag.Finite("gold-rate").pipe(Flag.withSchema(Rate)),
    "SHARE",
    `Share of gold items among all judged items, at most ${maxRate}`,
    { default: defaultRate },
  ),
})

export const resubmitFlags = inGroup("TASKS", {
  newLedger: choice(
    "new-ledger",
    "Create a new ledger if the job folder's ledger is gone, and submit all items again",
    {
      isTypedOnly: true,
    },
  ),
  newCampaign: choice(
    "new-campaign",
    "Judge all items again, as a new campaign, if the guidelines or the task type have changed",
    {
      isTypedOnly: true,
    },
  ),
  resubmit: repeated(
    Flag.Literals("resubmit", ["failed", "invalid", "refused"]),
    "STATE",
    "Resubmit tasks in STATE as new, billable tasks; repeatable",
    { isTypedOnly: true },
  ),
  maxAttempts: integer("max-attempts", "Maximum attempts per task with --resubmit, including the first attempt", {
    min: 1,
    default: defaultMaxAttempts,
  }),
})

const parsePrice = (text: string): Option.Option<readonly [kind: string, amount: string]> => {
  const at = text.lastIndexOf("=")
  const [kind, amount] = at === -1 ? [Prices.other, text] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  return kind === "" ? Option.none() : Option.as(Cost.parsePrice(amount), [kind, amount])
}

const pricesOf = (
  prices: ReadonlyArray<readonly [kind: string, amount: string]>,
): Option.Option<Prices.Price | undefined> => {
  const byKind = new Map(prices)
  const price = byKind.get(Prices.other)
  if (prices.length === 0) return Option.some(undefined)
  return price === undefined || byKind.size < prices.length
    ? Option.none()
    : Option.some(byKind.size === 1 ? price : { [Prices.other]: price, ...Object.fromEntries(byKind) })
}

export const priceFlag = (saved: string) =>
  repeated(
    parsed("price", parsePrice, Prices.form),
    "[KIND=]AMOUNT",
    `Price per vote, such as 0.40, or for one kind of expert: judge=0.01; repeatable${saved}`,
    { map: "prices" },
  ).pipe(Flag.filterMap(pricesOf, () => "one general price (0.40), and at most one price per kind, such as judge=0.01"))

export const spendingFlags = inGroup("TASKS", {
  price: priceFlag("; saved in the job"),
  budget: option(
    parsed(
      "budget",
      (text) => (text === "none" ? Option.some(text) : Option.as(Cost.parse(text), text)),
      `${Cost.amountForm}, or none`,
    ),
    "AMOUNT",
    "Maximum cost of the job's votes (none: no limit); exit status 8 if work remains; saved in the job",
  ),
})

export const taskFlags = { ...itemFlags, ...resubmitFlags, ...spendingFlags }

export const batchOf = (flags: Pick<Command.Command.Config.Infer<typeof batchFlags>, "batchSize" | "batchBytes">) =>
  ({
    maxPrompts: flags.batchSize ?? defaultLimits.maxPrompts,
    maxBytes: flags.batchBytes ?? defaultLimits.maxBytes,
  }) satisfies BatchLimits

export const itemOptionsOf = Effect.fnUntraced(function* (
  flags: Command.Command.Config.Infer<typeof itemFlags> & Partial<Pick<InputFlags, "ignoreField">>,
) {
  const fs = yield* FileSystem.FileSystem
  const items =
    flags.gold === undefined
      ? undefined
      : yield* GoldFile.read(flags.gold, { ignore: flags.ignoreField }).pipe(
          Effect.catchTag("UnusableGoldFile", ({ message }) => usageError(`--gold: ${message}`)),
        )
  const written = flags.guidelinesFile === undefined ? flags.guidelines : yield* fs.readFileString(flags.guidelinesFile)
  const { guidelinesFile, rubric } = flags
  const guidelines =
    rubric === undefined
      ? Result.map(Guidelines.parse(written, guidelinesFile), () => written)
      : Guidelines.withRubric(written, yield* fs.readFileString(rubric), rubric)
  if (Result.isFailure(guidelines)) {
    const flag = rubric !== undefined ? "--rubric" : guidelinesFile !== undefined ? "--guidelines-file" : "--guidelines"
    return yield* usageError(`${flag}: ${guidelines.failure}`)
  }
  return {
    guidelines: guidelines.success,
    ...Struct.pick(flags, [
      "group",
      "taskType",
      "keepReordered",
      "confidence",
      "peopleWhen",
      "completionsPerItem",
      "completionsSeed",
    ]),
    ...flags.votes,
    batch: batchOf(flags),
    shuffleSeed: flags.shuffle === false ? false : flags.shuffleSeed,
    gold: items === undefined ? undefined : { items, rate: flags.goldRate },
  } satisfies SubmitOptions & Pick<Pipeline.Settings, "confidence">
})

export const resubmitOptionsOf = (
  flags: Command.Command.Config.Infer<typeof resubmitFlags>,
  pipeline: Pick<SubmitOptions, "newCampaign" | "resubmit" | "maxAttempts"> & Pick<Pipeline.Settings, "newLedger">,
) => ({
  newLedger: flags.newLedger ?? pipeline.newLedger,
  newCampaign: flags.newCampaign ?? pipeline.newCampaign,
  resubmit: flags.resubmit.length > 0 ? flags.resubmit : pipeline.resubmit,
  maxAttempts: flags.maxAttempts ?? pipeline.maxAttempts,
})
