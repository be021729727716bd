/** `prefstream plan` shows how many votes per item an input needs, and how much they cost. */
import { Console, Effect, identity, Schema, Struct } from "effect"
import { Flag } from "effect/cli"
import { maxVotes, minGoldVotes, pilot, type VotePlan, votePlan, type VotePlanRow } from "../../pipeline/VotePlan.ts"
import * as LedgerLocation from "../../task/ledger/LedgerLocation.ts"
import { count, number, plural } from "../../io/Values.ts"
import { define, makeCommand } from "../flags/Definition.ts"
import { annotationFlags, annotationPathsOf } from "../flags/AnnotationPath.ts"
import { campaignFlag } from "../flags/CampaignFlag.ts"
import { inputFlags, printDetected, sourceOf } from "../flags/InputFlags.ts"
import { ledgerFlags, noSuchLedger, placeOf } from "../flags/LedgerFlags.ts"
import { endOfDryRun } from "../flags/PipelineFile.ts"
import { check } from "../flags/FlagCombinations.ts"
import { batchFlags, spendingFlags } from "../flags/TaskFlags.ts"
import { option } from "../flags/Values.ts"
import { usageError } from "../output/ExitStatus.ts"
import { votesCost } from "../output/SpendingSummary.ts"
import { aligned, percent, present, printable, rowsOf, table } from "../output/Text.ts"

const Share = Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThan(1))

const itemFlags = ["keepReordered", "completionsPerItem", "completionsSeed"] as const

export const command = makeCommand(
  "plan",
  "For 1 to 7 votes per item of FILE, show the expected accuracy of the majority vote, the agreement, and the cost. With --target-accuracy, also show how many votes per item reach that accuracy. " +
    "Set the accuracy of experts with --accuracy. Without this flag, the accuracy is estimated from the votes in --dir, the job folder of a pilot. Nothing is sent or recorded.",
  {
    accuracy: option(
      Flag.Finite("accuracy").pipe(Flag.withSchema(Share)),
      "SHARE",
      "Assumed probability that a vote is correct, such as 0.8",
      { default: "estimated from the job's votes" },
    ),
    targetAccuracy: option(
      Flag.Finite("target-accuracy").pipe(Flag.withSchema(Share)),
      "SHARE",
      "Also show how many votes per item make the majority correct on SHARE of the items, such as 0.95",
    ),
    price: spendingFlags.price.pipe(Flag.map(identity), define({ isEssential: true })),
    campaign: campaignFlag("measure"),
    ...annotationFlags,
    ...inputFlags,
    ...Struct.pick(batchFlags, itemFlags),
    ...ledgerFlags,
  },
  Effect.fn("prefstream plan")(function* (flags) {
    yield* check(flags)
    const source = yield* sourceOf(flags)
    const place = yield* placeOf(flags)
    yield* endOfDryRun()
    const experts =
      flags.accuracy ??
      (yield* pilot({ campaign: flags.campaign, annotationPaths: annotationPathsOf(flags) }).pipe(
        Effect.provide(LedgerLocation.layerReadonly(place.location)),
        Effect.catchTag("LedgerMissing", (missing) =>
          usageError(`${noSuchLedger(missing).message}, or assume an accuracy with --accuracy`),
        ),
      ))
    yield* printDetected(source)
    const plan = yield* votePlan({ ...Struct.pick(flags, [...itemFlags, "price", "targetAccuracy"]), source, experts })
    yield* Console.log(flags.json === true ? JSON.stringify(plan) : printable(text(plan)))
  }),
  {
    "prefstream plan items.jsonl --accuracy 0.8 --price 0.40 --target-accuracy 0.95":
      "Assume that 80% of the votes are correct",
    "prefstream plan items.jsonl --dir pilot --price 0.40": "Estimate the experts' accuracy from a pilot job",
  },
)

const itemsOf = ({ completions, items }: VotePlan): string =>
  `${count(items, "item")}: ${completions.map((each) => `${completions.length === 1 ? "" : `${number(each.items)} with `}${each.completions} completions`).join(", ")}${completions.length === 1 ? " per item" : ""}`

const accuracyRows = ({ accuracy, experts }: VotePlan): ReadonlyArray<string> => {
  if (experts === null) return [`${percent(accuracy)} of the votes are assumed to be correct`]
  const by = (what: (typeof experts)[number]["by"]) => experts.filter((expert) => expert.by === what).length
  const [gold, agreement, unknown] = [by("gold"), by("agreement"), by(null)]
  return present([
    `${percent(accuracy)} of the votes are estimated to be correct, based on the votes of ${count(gold + agreement, "expert")} in the pilot`,
    experts.some(({ by, expert }) => by !== null && expert === null) &&
      "votes without an expert's name are counted as the votes of one expert",
    gold > 0 &&
      `${count(gold, "expert")} gave at least ${minGoldVotes} votes${plural(gold, "", " each")} on gold items: the accuracy is the share of correct votes on gold items`,
    agreement > 0 &&
      `${count(agreement, "expert")} gave fewer than ${minGoldVotes} votes${plural(agreement, "", " each")} on gold items: the accuracy is estimated from all votes and known answers`,
    unknown > 0 &&
      `${count(unknown, "expert")} ${plural(unknown, "is", "are")} left out of the estimate: no other expert voted on their items, and these items have no known answer`,
  ])
}

const cellsOf = ({ accuracy, agreement, total, votes }: VotePlanRow): ReadonlyArray<string> => [
  number(votes),
  percent(accuracy),
  agreement === null ? "–" : percent(agreement),
  ...(total === null ? [] : [total.cost]),
]

const text = (plan: VotePlan): string => {
  const { price, target } = plan
  const rows = [["votes", "accuracy", "agreement", ...(price === null ? [] : ["cost"])], ...plan.plan.map(cellsOf)]
  return [
    ...table([
      ["input", itemsOf(plan)],
      ...rowsOf("experts", accuracyRows(plan)),
      ["price", price !== null && `${price} per vote`],
    ]),
    "",
    ...aligned(rows).map((line) => `  ${line}`),
    ...(target === null ? [] : ["", targetOf(target, plan.items)]),
  ].join("\n")
}

const targetOf = ({ accuracy, reached }: NonNullable<VotePlan["target"]>, items: number): string =>
  reached === null
    ? `An accuracy of ${percent(accuracy)} would take more than ${maxVotes} votes per item.`
    : `An accuracy of ${percent(accuracy)} takes ${count(reached.votes, "vote")} per item: ${reached.total === null ? count(items * reached.votes, "vote") : votesCost(reached.total)}.`
