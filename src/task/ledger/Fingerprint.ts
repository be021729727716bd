/**
 * Computes a digest of all data in the ledger on which a dataset depends. If the dataset changes, the digest changes.
 * Requests and results are long, so they are not part of the digest. Instead, the digest contains columns that change
 * with them. A new result raises `completed_at`. A new request has another `seq`, `item_count`, or key. The digest also
 * contains the random key for pseudonyms, so two ledgers with equal tasks have different digests.
 */
import { Array as Arr, Effect, Option, Stream } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Sha256 from "../../node/Sha256.ts"
import { readEarlierRuns } from "./reads/EarlierRuns.ts"
import { importPrefix, readItems } from "./writes/Items.ts"
import type { LedgerContext } from "./schema/Model.ts"
import { readRuns } from "./writes/Runs.ts"
import { endedVotesSeen, peopleWhenSetting, readSpending, wantedVotes } from "./writes/Spending.ts"

/** Columns of `task` that a dataset or its report may depend on. */
export const taskColumns = [
  "seq", "campaign", "item_count", "new_items", "batch", "batch_items", "vote", "votes", "asks", "voters", "least_votes", "attempt", "idempotency_key",
  "state", "task_id", "planned_at", "resend_at", "sent_at", "submitted_at", "completed_at", "pruned_at", "canceled", "price_list", "vote_kinds",
] // prettier-ignore

/** Columns of `task` that no dataset depends on, such as those for polling and claims. */
export const otherTaskColumns = [
  "job",
  "part",
  "reason",
  "due_at",
  "gold_items",
  "waiting_items",
  "claim_epoch",
  "claim_until",
]

/** Settings that are not hashed, because no dataset depends on them, or because their effect is hashed elsewhere. */
const otherSettings = ["confidence", peopleWhenSetting, "deliveries", "last_delivery", wantedVotes, endedVotesSeen]

const pageSize = 4096

export const readFingerprint = (context: LedgerContext) => {
  const { job, sql } = context
  const { campaigns, inputsOf, lastRun, lastRunIn, newestRun } = readRuns(context)
  const { isImport } = readItems(context)
  const spending = readSpending(context)
  const { earlierRejects, earlierRuns } = readEarlierRuns(context)

  const addPages = Effect.fnUntraced(function* (
    add: (value: unknown) => void,
    page: (after: number) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError>,
  ) {
    let after = -1
    while (true) {
      const rows = yield* page(after)
      const last = rows.at(-1)
      if (last === undefined) return
      add(rows)
      after = Number(last[0])
    }
  })

  const fingerprint = Effect.fn("Ledger.fingerprint")(function* (campaign: Option.Option<number>) {
    const hasher = Sha256.makeHasher()
    const encoder = new TextEncoder()
    const add = (value: unknown) => hasher.update(encoder.encode(`${JSON.stringify(value)}\n`))
    const allCampaigns = yield* campaigns
    const runs = yield* Effect.forEach(
      allCampaigns.filter((one) => Option.isNone(campaign) || one.campaign === campaign.value),
      (one) => lastRunIn(one.campaign),
    ).pipe(Effect.map(Arr.getSomes))
    add([Option.getOrNull(campaign), allCampaigns, yield* inputsOf(campaign)])
    for (const { campaign, counts, run, shuffleSeed, votes } of runs) {
      const imported = (yield* isImport(run)) ? counts.known : null
      add([campaign, counts.duplicates, counts.reordered, imported, votes, Option.getOrNull(shuffleSeed)])
      yield* addPages(
        add,
        (after) =>
          sql`SELECT ordinal, record FROM reject WHERE job = ${job} AND run = ${run} AND ordinal > ${after}
            ORDER BY ordinal LIMIT ${pageSize}`.values,
      )
      for (const { duplicates, known, reordered, run: earlier } of yield* earlierRuns(run, Option.some(campaign))) {
        add([duplicates, reordered, (yield* isImport(earlier)) ? known : null])
      }
      yield* Stream.runForEachArray(earlierRejects(run, Option.some(campaign)), (rejects) =>
        Effect.sync(() => rejects.forEach(add)),
      )
    }
    const last = Option.map(yield* lastRun, ({ overBudget, shuffleSeed, voters, votes }) => [
      overBudget,
      shuffleSeed,
      votes,
      voters,
    ])
    const newest = Option.map(yield* newestRun, ({ campaign }) => campaign)
    add([Option.getOrNull(last), Option.getOrNull(newest), yield* spending.wantedVotes])
    add(
      yield* sql`SELECT name, value FROM setting WHERE job = ${job} AND NOT ${sql.in("name", otherSettings)}
        AND NOT name LIKE ${`${importPrefix}%`} ORDER BY name`,
    )
    add(yield* sql`SELECT list, prices FROM price_list WHERE job = ${job} ORDER BY list`)
    add(
      yield* sql`SELECT price_list, voters, SUM(votes) AS votes FROM task_attempt WHERE job = ${job} AND votes > 0
        GROUP BY price_list, voters ORDER BY price_list, voters`,
    )
    yield* addPages(
      add,
      (after) =>
        sql`SELECT ${sql.literal(taskColumns.join(", "))} FROM task WHERE job = ${job} AND seq > ${after}
          ORDER BY seq LIMIT ${pageSize}`.values,
    )
    return hasher.digest()
  })

  return { fingerprint }
}
