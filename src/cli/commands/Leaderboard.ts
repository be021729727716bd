/** `prefstream leaderboard` rates the models of a job or of a dataset by the votes on their completions. */
import { Console, Effect, Option } from "effect"
import { Argument, Flag } from "effect/cli"
import { datasetLeaderboards, leaderboards } from "../../pipeline/Leaderboard.ts"
import { controlNames, defaultPrior, defaultResamples, tieModels } from "../../pair/rating/Leaderboard.ts"
import { makeCommand } from "../flags/Definition.ts"
import { annotationFlags, annotationPathsOf } from "../flags/AnnotationPath.ts"
import { campaignFlag } from "../flags/CampaignFlag.ts"
import { existingLedger, ledgerFlags, placeOf } from "../flags/LedgerFlags.ts"
import { endOfDryRun } from "../flags/PipelineFile.ts"
import { integer, literals, numberIn, option, parsed, raw, repeated, toggle } from "../flags/Values.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import * as LeaderboardTable from "../output/LeaderboardTable.ts"
import { present, printable, say } from "../output/Text.ts"

export const command = makeCommand(
  "leaderboard",
  "Rate models by the votes on their completions. Ratings come from the Bradley–Terry model with Davidson's extension for ties. A rating difference of 400 points means odds of 10 to 1; 95% intervals come from resampling items. " +
    "Also show the probability that two votes on an item agree, and the effect of more votes on the width of the intervals. Exits with 1 if no vote compares two models.",
  {
    dataset: Argument.String("DATASET").pipe(
      Argument.withDescription(
        "Dataset to rate instead of a job: a folder, Parquet, or JSONL file; each item counts as one vote",
      ),
      Argument.optional,
      Argument.map(Option.getOrUndefined),
    ),
    by: option(Flag.String("by"), "FIELD", "Rate separately for each value of this metadata field, at most 100 values"),
    campaign: campaignFlag("rate"),
    tieModel: literals(
      "tie-model",
      tieModels,
      "How ties count: as a separate outcome, as half a win each, or not at all",
      { metavar: "MODEL", default: "davidson" },
    ),
    weighted: toggle("weighted", "Weight each vote by its expert's estimated reliability"),
    control: repeated(
      Flag.Literals("control", controlNames),
      "CONTROL",
      "Adjust ratings for the length of completions, or for their position when shown; repeatable",
    ),
    prior: option(
      parsed(
        "prior",
        (text) => Option.filter(numberIn(text, 0, 1000), (deviation) => deviation > 0),
        "a number above 0, up to 1000",
      ),
      "SD",
      "Standard deviation of the prior distribution of model abilities, in natural log odds",
      { default: defaultPrior },
    ),
    resamples: integer("resamples", "Number of times that the items are resampled for 95% intervals; 0: no intervals", {
      min: 0,
      max: 100_000,
      default: defaultResamples,
    }),
    resampleSeed: integer("resample-seed", "Seed for resampling items", { default: 0 }),
    ...annotationFlags,
    csv: toggle("csv", "Print the table as CSV on stdout", { isTypedOnly: true }),
    raw,
    ...ledgerFlags,
  },
  Effect.fn("prefstream leaderboard")(function* (flags) {
    if (flags.csv === true && flags.json === true) {
      return yield* ExitStatus.usageError("--csv cannot be combined with --json")
    }
    const options = {
      ties: flags.tieModel,
      controls: flags.control,
      prior: flags.prior,
      resamples: flags.resamples,
      seed: flags.resampleSeed,
    }
    const { dataset } = flags
    const groups = yield* Effect.gen(function* () {
      if (dataset === undefined) {
        const place = yield* placeOf(flags)
        yield* endOfDryRun()
        const { campaign, weighted } = flags
        return yield* leaderboards(flags.by, {
          ...options,
          campaign,
          weighted,
          annotationPaths: annotationPathsOf(flags),
        }).pipe(Effect.provide(existingLedger(place.location)))
      }
      const refused = present([
        flags.campaign !== undefined && "--campaign",
        flags.weighted === true && "--weighted",
        flags.control.includes("position") && "--control position",
      ])
      if (refused.length > 0) {
        return yield* ExitStatus.usageError(
          `${refused.join(", ")}: only available for a job, because a dataset does not contain the individual votes; name the job with --dir in place of ${dataset}`,
        )
      }
      yield* endOfDryRun()
      return yield* datasetLeaderboards(dataset, flags.by, options)
    }).pipe(
      Effect.catchTags({
        GroupsInvalid: ({ message }) => ExitStatus.usageError(`--by ${message}`),
        NoDataset: ExitStatus.asUsageError,
      }),
    )
    if (groups.every(({ leaderboard }) => leaderboard === null)) {
      yield* say(LeaderboardTable.nothing)
      return yield* new ExitStatus.Finished({ status: ExitStatus.failure })
    }
    const printed = flags.by === undefined ? undefined : { by: flags.by, groups }
    yield* flags.json === true
      ? Console.log(JSON.stringify(printed ?? groups[0]!.leaderboard))
      : Console.log(
          printable(
            flags.csv === true
              ? LeaderboardTable.csv(groups, flags.by, flags.raw === true)
              : LeaderboardTable.text(groups, flags.by),
          ),
        )
    if (dataset !== undefined) yield* say(LeaderboardTable.ofDataset, "info")
  }),
  {
    "prefstream leaderboard --dir week-48": "Rate the models of a job",
    "prefstream leaderboard --dir week-48 --control length --weighted --json":
      "Adjust for length, give reliable experts' votes more weight, and print JSON",
    "prefstream leaderboard week-48/dataset --by topic":
      "Rate the models of a dataset separately for each topic (a metadata field)",
  },
)
