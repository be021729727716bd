/** `prefstream audit` compares the automatic judges of a job with people. */
import { Console, Effect } from "effect"
import { Flag } from "effect/cli"
import { defaultWithin } from "../../pair/audit/Policies.ts"
import { defaultResamples } from "../../pair/stats/Bootstrap.ts"
import { audit } from "../../pipeline/Audit.ts"
import { annotationFlags, annotationPathsOf } from "../flags/AnnotationPath.ts"
import { campaignFlag } from "../flags/CampaignFlag.ts"
import { makeCommand } from "../flags/Definition.ts"
import { existingLedger, ledgerFlags, placeOf } from "../flags/LedgerFlags.ts"
import { endOfDryRun } from "../flags/PipelineFile.ts"
import { priceFlag } from "../flags/TaskFlags.ts"
import { integer, numberIn, option, parsed, repeated } from "../flags/Values.ts"
import * as AuditTable from "../output/AuditTable.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { printable, say } from "../output/Text.ts"

export const command = makeCommand(
  "audit",
  "Compare each automatic judge, and all judges together as a jury, with the people who voted on the same items: agreement and Cohen's kappa, consistency when completions are swapped, biases, and accuracy on known answers. " +
    "Also show the accuracy and the cost of using judges, people, or both. Exits with 1 if no item has votes from both a judge and a person.",
  {
    by: option(
      Flag.String("by"),
      "FIELD",
      "Also show agreement for each value of this metadata field, at most 100 values",
    ),
    judge: repeated(
      Flag.String("judge"),
      "EXPERT",
      "Also treat the expert of this name as an automatic judge, such as 'longest'; repeatable",
    ),
    within: option(
      parsed("within", (text) => numberIn(text, 0, 1), "a number from 0 to 1"),
      "SHARE",
      "Find the cheapest policy whose accuracy is at most SHARE below people's",
      { default: defaultWithin },
    ),
    price: priceFlag(" (default: the job's)"),
    campaign: campaignFlag("audit"),
    resamples: integer("resamples", "Number of times that the items are resampled to compute 95% intervals", {
      min: 1,
      max: 100_000,
      default: defaultResamples,
    }),
    resampleSeed: integer("resample-seed", "Seed for resampling items", { default: 0 }),
    ...annotationFlags,
    ...ledgerFlags,
  },
  Effect.fn("prefstream audit")(function* (flags) {
    const place = yield* placeOf(flags)
    yield* endOfDryRun()
    const { by, campaign, judge: judges, price, resampleSeed: seed, resamples, within } = flags
    const annotationPaths = annotationPathsOf(flags)
    const result = yield* audit({ annotationPaths, by, campaign, judges, price, resamples, seed, within }).pipe(
      Effect.provide(existingLedger(place.location)),
      Effect.catchTag("GroupsInvalid", ({ message }) => ExitStatus.usageError(`--by ${message}`)),
    )
    if (result.compared === 0) {
      yield* say(AuditTable.nothing(result))
      return yield* new ExitStatus.Finished({ status: ExitStatus.failure })
    }
    yield* Console.log(flags.json === true ? JSON.stringify(result) : printable(AuditTable.text(result)))
  }),
  {
    "prefstream audit --dir week-48": "Compare a job's judges with people",
    "prefstream audit --dir week-48 --by topic --price 0.40 --price judge=0.01 --within 0.01":
      "Also compare by topic, and find the cheapest way to judge that loses at most 1 percentage point of accuracy",
  },
)
