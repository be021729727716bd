/**
 * Campaigns, runs, and the files that runs read. All runs with the same guidelines and task type belong to one
 * campaign. If a run changes the guidelines or the task type, the caller must set `newCampaign`, because all items are
 * then billed again. Unsent tasks of other campaigns are not sent, unless a person asked to resend them.
 */
/* oxlint-disable max-lines -- campaigns, runs, and inputs are written in the same transactions */
import { Array as Arr, Effect, Option, Record } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as SteadyClock from "../../../io/SteadyClock.ts"
import { describeValue } from "../../../io/Values.ts"
import type { InputFile } from "../../../domain/InputFile.ts"
import { rlhfRanking } from "../../../domain/Task.ts"
import { type Voters, votersOf } from "../../../domain/Voters.ts"
import * as Pseudonym from "../../../node/Pseudonym.ts"
import * as Sha256 from "../../../node/Sha256.ts"
import * as Model from "../schema/Model.ts"
import { inChunks, priceListOf, setSetting, settingOf, storable, supersede } from "../schema/Rows.ts"
import { endedVotesSeen, holdBack, peopleWhenSetting, setTerms, type SpendingTerms, wantedVotes } from "./Spending.ts"
import { NoSuchCampaign, TermsChanged } from "../schema/WrongLedger.ts"

const expertKeySetting = "expert_key"

export const ensureExpertKey = Effect.fnUntraced(function* ({ job, sql }: Pick<Model.LedgerContext, "job" | "sql">) {
  if ((yield* settingOf({ job, sql }, expertKeySetting)) !== undefined) return
  const row = { job, name: expertKeySetting, value: yield* Pseudonym.drawKey }
  yield* sql.withTransaction(sql`INSERT INTO setting ${sql.insert(row)} ON CONFLICT DO NOTHING`)
})

interface CampaignRow extends Omit<Model.Campaign, "guidelines"> {
  readonly guidelines: Uint8Array | null
}

const campaignOfRow = (row: CampaignRow): Model.Campaign => ({
  ...row,
  guidelines: row.guidelines === null ? undefined : new TextDecoder().decode(row.guidelines),
})

type NewTerms = Model.RunTerms & SpendingTerms & { readonly newCampaign?: boolean | undefined }

export const readRuns = ({ job, sql }: Model.LedgerContext) => {
  const here = sql`job = ${job}`

  const campaigns = Effect.suspend(
    () => sql<CampaignRow>`SELECT campaign, task_type AS "taskType", guidelines, fingerprint, started_at AS "startedAt"
      FROM campaign WHERE ${here} ORDER BY campaign`,
  ).pipe(Effect.map(Arr.map(campaignOfRow)), Effect.withSpan("Ledger.campaigns"))

  /** The campaign of the last run that has read anything, or else of the last run. */
  const lastCampaign = Effect.gen(function* () {
    const rows = yield* sql<{ campaign: number }>`SELECT campaign FROM run WHERE ${here}
      ORDER BY CASE WHEN read_count > 0 THEN 0 ELSE 1 END, run DESC LIMIT 1`
    return Option.map(Option.fromNullishOr(rows[0]), ({ campaign }) => campaign)
  }).pipe(Effect.withSpan("Ledger.lastCampaign"))

  const isJudged = ({ campaign }: Pick<Model.Campaign, "campaign">) =>
    Effect.map(sql`SELECT 1 FROM item WHERE ${here} AND campaign = ${campaign} LIMIT 1`, (rows) => rows.length > 0)

  const runWhere = Effect.fnUntraced(function* (condition: Fragment) {
    const rows = yield* sql<
      Model.ReadCounts & {
        readonly run: number
        readonly campaign: number
        readonly readFinished: number
        readonly votes: number
        readonly voters: Voters | null
        readonly overBudget: number
        readonly maxRejects: string | null
        readonly shuffleSeed: number | null
      }
    >`SELECT run, campaign, read_finished AS "readFinished", votes, voters, max_rejects AS "maxRejects",
        shuffle_seed AS "shuffleSeed", read_count AS read, new_count AS new, known_count AS known,
        duplicate_count AS duplicates, reordered_count AS reordered, rejected_count AS rejected,
        over_budget_count AS "overBudget"
      FROM run WHERE ${here} AND ${condition} ORDER BY run DESC LIMIT 1`
    return Option.map(
      Option.fromNullishOr(rows[0]),
      ({ campaign, maxRejects, overBudget, readFinished, run, shuffleSeed, voters, votes, ...counts }) => ({
        run,
        campaign,
        readFinished: readFinished === 1,
        votes,
        voters,
        overBudget,
        /** None if completions are sent in the order of the input. */
        shuffleSeed: Option.fromNullishOr(shuffleSeed),
        maxRejects: Option.fromNullishOr(maxRejects),
        counts: counts satisfies Model.ReadCounts,
      }),
    )
  })

  const lastRun = runWhere(sql`read_count > 0`).pipe(Effect.withSpan("Ledger.lastRun"))

  return {
    campaigns,
    /** The key for pseudonyms of experts. None if only an old version of prefstream has written to the ledger. */
    expertKey: Effect.map(settingOf({ job, sql }, expertKeySetting), Option.fromUndefinedOr),
    newestRun: Effect.gen(function* () {
      const rows = yield* sql<{
        run: number
        campaign: number
        startedAt: number
        endedAt: number | null
        readFinished: number
        failure: string | null
      }>`SELECT run, campaign, started_at AS "startedAt", ended_at AS "endedAt", read_finished AS "readFinished", failure
      FROM run WHERE ${here} ORDER BY run DESC LIMIT 1`
      return Option.map(Option.fromNullishOr(rows[0]), (row) => ({
        ...row,
        endedAt: Option.fromNullishOr(row.endedAt),
        readFinished: row.readFinished === 1,
        failure: Option.fromNullishOr(row.failure),
      }))
    }).pipe(Effect.withSpan("Ledger.newestRun")),
    lastCampaign,
    campaignFor: Effect.fnUntraced(function* (terms: NewTerms) {
      const { taskType = rlhfRanking } = terms
      const guidelines = normalize(terms.guidelines)
      const fingerprint = Sha256.hex(JSON.stringify([taskType, guidelines ?? null]))
      const allCampaigns = yield* campaigns
      const same = allCampaigns.find((campaign) => campaign.fingerprint === fingerprint)
      // A campaign without items does not count: the next new campaign may replace it, under the same number.
      const judged = yield* Effect.filter(allCampaigns, isJudged)
      const before = yield* Effect.map(
        lastCampaign,
        (last) => judged.find(({ campaign }) => Option.contains(last, campaign)) ?? judged.at(-1),
      )
      if (before !== undefined && same?.campaign !== before.campaign && terms.newCampaign !== true) {
        return yield* new TermsChanged({
          campaign: before.campaign,
          changes: changesOf(before, { guidelines, taskType }),
          ...(same === undefined ? {} : { earlier: same.campaign }),
        })
      }
      const campaign = same?.campaign ?? (judged.at(-1)?.campaign ?? 0) + 1
      return { campaign, isNew: same === undefined, fingerprint, guidelines, taskType }
    }),
    /** Without a campaign, returns the campaign of the last run. */
    campaignOf: Effect.fn("Ledger.campaignOf")(function* (campaign: Option.Option<number>) {
      if (Option.isNone(campaign)) return yield* lastCampaign
      const numbers = (yield* campaigns).map(({ campaign }) => campaign)
      if (numbers.includes(campaign.value)) return campaign
      return yield* new NoSuchCampaign({ campaign: campaign.value, campaigns: numbers })
    }),
    runOf: Effect.fn("Ledger.runOf")((run: number) => runWhere(sql`run = ${run}`)),
    lastRun,
    lastRunIn: Effect.fn("Ledger.lastRunIn")((campaign: number) =>
      runWhere(sql`read_count > 0 AND campaign = ${campaign}`),
    ),

    inputsOf: (campaign: Option.Option<number>): Effect.Effect<ReadonlyArray<InputFile>, SqlError> =>
      Effect.map(
        sql<
          Required<InputFile>
        >`SELECT DISTINCT file, bytes, records, sha256, etag, last_modified FROM input WHERE ${here} AND ${Option.match(
          campaign,
          { onNone: () => sql.literal("1 = 1"), onSome: (campaign) => sql`campaign = ${campaign}` },
        )} ORDER BY file, sha256, etag, last_modified`,
        (rows) =>
          rows.map(({ bytes, file, records, ...versions }) => ({
            file,
            bytes,
            records,
            ...Record.filter(versions, (text) => text !== ""),
          })),
      ),
    service: Effect.map(settingOf({ job, sql }, "service"), Option.fromUndefinedOr).pipe(
      Effect.withSpan("Ledger.service"),
    ),
  }
}

export const writeRuns = ({ job, sql, write }: Model.LedgerContext, { campaignFor }: ReturnType<typeof readRuns>) => {
  const here = sql`job = ${job}`

  /** @param groupOf returns the group for a campaign; a campaign that already has tasks keeps its earlier group */
  const startRun = Effect.fn("Ledger.startRun")(function* (
    terms: NewTerms = {},
    groupOf: (campaign: number) => string | undefined = () => undefined,
  ): Effect.fn.Return<Model.Run, SqlError | TermsChanged> {
    const now = yield* SteadyClock.now
    const { campaign, fingerprint, guidelines, isNew, taskType } = yield* campaignFor(terms)
    return yield* write(
      Effect.gen(function* () {
        const group = groupOf(campaign) ?? null
        if (isNew) {
          yield* sql`DELETE FROM campaign WHERE ${here} AND campaign = ${campaign}`
          yield* sql`INSERT INTO campaign ${sql.insert({
            job,
            campaign,
            task_type: taskType,
            guidelines: guidelines === undefined ? null : new TextEncoder().encode(guidelines),
            fingerprint,
            started_at: now,
            task_group: group,
          })}`
        }
        const own = sql`${here} AND campaign = ${campaign}`
        yield* sql`UPDATE campaign SET task_group = ${group} WHERE ${own}
          AND COALESCE(task_group, '') <> COALESCE(${group}, '') AND NOT EXISTS (
          SELECT 1 FROM task WHERE ${own} AND NOT (state = 'completed' AND submitted_at IS NULL))`
        const [row] = yield* sql<{ group: string | null }>`SELECT task_group AS "group" FROM campaign WHERE ${own}`
        yield* setTerms({ job, sql }, terms)
        yield* sql`UPDATE task SET state = 'planned', reason = NULL, price_list = ${yield* priceListOf({ job, sql })}
          WHERE ${here} AND state = 'superseded' AND campaign = ${campaign}`
        const { shuffleSeed = Model.defaultShuffleSeed, votes = 1 } = terms
        const rows = yield* sql<{
          run: number
        }>`INSERT INTO run (job, run, campaign, started_at, votes, voters, shuffle_seed)
          SELECT ${job}, COALESCE(MAX(run), 0) + 1, ${campaign}, ${now}, ${votes}, ${votersOf(terms) ?? null}, ${shuffleSeed === false ? null : shuffleSeed}
          FROM run WHERE ${here} RETURNING run`
        yield* supersede({ job, sql }, sql`1 = 1`)
        yield* sql`DELETE FROM setting WHERE ${here} AND ${sql.in("name", [wantedVotes, endedVotesSeen])}`
        // A run that sets `votes` does not inherit `confidence` and `peopleWhen` from an earlier run.
        const keep = Effect.fnUntraced(function* (name: string, value: string | undefined) {
          if (value !== undefined) yield* setSetting({ job, sql }, name, value)
          else if (terms.votes !== undefined) yield* sql`DELETE FROM setting WHERE ${here} AND name = ${name}`
        })
        yield* keep("confidence", terms.confidence?.toString())
        yield* keep(peopleWhenSetting, terms.peopleWhen)
        yield* holdBack({ job, sql })
        return { run: rows[0]!.run, campaign, ...(typeof row?.group === "string" && { group: row.group }) }
      }),
    )
  })

  const endRun = Effect.fn("Ledger.endRun")(function* (
    { run }: Model.Run,
    {
      failure,
      maxRejects,
    }: {
      readonly maxRejects?: string | undefined
      readonly failure?: string | undefined
    } = {},
  ) {
    const now = yield* SteadyClock.now
    yield* write(sql`UPDATE run SET ended_at = ${now}, max_rejects = ${maxRejects ?? null},
      failure = ${storable(failure ?? null)} WHERE ${here} AND run = ${run}`)
  })

  const recordInputs = Effect.fn("Ledger.recordInputs")(function* (
    { campaign, run }: Model.Run,
    files: ReadonlyArray<InputFile>,
  ) {
    const rows = files.map((file) => ({
      job,
      campaign,
      run,
      records: 0,
      sha256: "",
      etag: "",
      last_modified: "",
      ...file,
    }))
    // If a run reads a file twice, `rows` has duplicates. One statement must not update the same row of `input` twice.
    const different = new Map(rows.map((row) => [JSON.stringify(Object.values(row)), row]))
    yield* write(
      inChunks(
        [...different.values()],
        (rows) => sql`INSERT INTO input ${sql.insert(rows)}
          ON CONFLICT (job, campaign, file, sha256, etag, last_modified) DO UPDATE SET run = excluded.run`,
      ),
    )
  })

  return { startRun, endRun, recordInputs }
}

/** Guidelines that differ only in line endings, or in whitespace at the end, count as the same. */
const normalize = (guidelines: string | undefined): string | undefined => {
  const text = guidelines?.replaceAll("\r\n", "\n").trimEnd()
  return text === "" ? undefined : text
}

const changesOf = (
  before: Pick<Model.Campaign, "guidelines" | "taskType">,
  now: Pick<Model.Campaign, "guidelines" | "taskType">,
): Arr.NonEmptyReadonlyArray<string> => {
  const changes = [
    ...(before.taskType === now.taskType
      ? []
      : [`the task type was ${describeValue(before.taskType)} and is now ${describeValue(now.taskType)}`]),
    ...(before.guidelines === now.guidelines ? [] : [guidelinesChange(before.guidelines, now.guidelines)]),
  ]
  return Arr.isReadonlyArrayNonEmpty(changes) ? changes : ["the guidelines differ"]
}

const guidelinesChange = (before: string | undefined, now: string | undefined): string => {
  if (before === undefined) return `guidelines were added: ${describeValue(now ?? "")}`
  if (now === undefined) return `the guidelines were removed: ${describeValue(before)}`
  const was = before.split("\n")
  const is = now.split("\n")
  const [old, fresh] = apart(before, now)
  if (was.length === 1 && is.length === 1) return `the guidelines were ${old} and are now ${fresh}`
  const differs = was.findIndex((line, i) => line !== is[i])
  const at = differs === -1 ? was.length : differs
  const [oldLine, freshLine] = apart(was[at], is[at])
  const line = `line ${at + 1} of the guidelines`
  if (was[at] === undefined) return `${line} was added: ${freshLine}`
  return is[at] === undefined ? `${line} was removed: ${oldLine}` : `${line} was ${oldLine} and is now ${freshLine}`
}

const apart = (a = "", b = ""): readonly [string, string] => {
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  const from = same <= 40 ? 0 : same - 20
  const quote = (text: string) => describeValue(`${from > 0 ? "…" : ""}${text.slice(from)}`)
  return [quote(a), quote(b)]
}
