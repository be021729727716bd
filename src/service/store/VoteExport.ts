/**
 * Exports the valid votes of the store as records of a vote table (`domain/VoteRow`), in the order of tasks, items, and
 * votes. The export leaves out void votes, votes on withdrawn prompts, votes in canceled tasks, and votes given after
 * the export began. If an item has a decision but no votes, the decision is exported as a vote of the lead. No
 * transaction stays open. Memory contains the votes of at most 100 items, in total at most about 4 MB. An item whose
 * votes are larger is read alone.
 */
import { DateTime, Effect, Option, Stream } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Flag } from "../../domain/Flag.ts"
import * as VoteRow from "../../domain/VoteRow.ts"
import * as VotedResult from "../../domain/VotedResult.ts"
import * as SpreadsheetCell from "../../io/SpreadsheetCell.ts"
import { Database } from "../database/Database.ts"
import { maxPrompts, promptIndexOf, seqOf } from "../database/TaskTables.ts"
import * as Decisions from "./Decisions.ts"
import type { ItemQuery } from "../pageApi/ItemsApi.ts"
import { make as makeFilters } from "./ItemFilters.ts"
import { type RequestedPrompt, TaskRequests } from "./TaskRequests.ts"
import * as Voting from "./Voting.ts"

export interface VoteFilter extends Omit<ItemQuery, "before" | "limit"> {
  readonly organization?: string | undefined
}

const itemsAtOnce = 100
const maxReadChars = 4 * 1024 * 1024
const maxGatheredChars = 64 * 1024
const encoder = new TextEncoder()

interface GivenVote extends Omit<Voting.StoredVote, "name"> {
  readonly given_at: number
}

/** Joins records into chunks, so that the table is never a single string in memory. */
const gather = Stream.mapAccum(
  (): { readonly texts: ReadonlyArray<string>; readonly chars: number } => ({ texts: [], chars: 0 }),
  (gathered, text: string) => {
    const texts = [...gathered.texts, text]
    const chars = gathered.chars + text.length
    return chars < maxGatheredChars
      ? [{ texts, chars }, []]
      : [{ texts: [], chars: 0 }, [encoder.encode(texts.join(""))]]
  },
  { onHalt: ({ chars, texts }) => (chars === 0 ? [] : [encoder.encode(texts.join(""))]) },
)

const chosenIn = (decision: Decisions.StoredDecision | undefined): Decisions.Chosen | undefined =>
  decision !== undefined && Decisions.isChosen(decision) ? decision : undefined

const rowsOf = (
  taskId: string,
  { completions, metadata, prompt }: RequestedPrompt,
  storedVotes: ReadonlyArray<GivenVote>,
  ofItem: ReadonlyArray<Flag>,
  decided: Decisions.Chosen | undefined,
): ReadonlyArray<VoteRow.VoteRow> => {
  const votes = storedVotes.map(Voting.voteOf)
  const flags = VotedResult.flagsOf(votes, ofItem)
  const ofAll = {
    item_id: null,
    prompt,
    completions,
    models: null,
    tools: null,
    task_id: taskId,
    is_gold: false,
    gold: null,
    flags: flags.length === 0 ? null : flags,
    decision:
      decided === undefined
        ? null
        : { chosen_index: decided.choice, rationale: decided.rationale, ...Decisions.recordOf(decided) },
    metadata: metadata ?? null,
  }
  if (votes.length === 0 && decided !== undefined) {
    const { choice, operator: expert, rationale } = decided
    return [VoteRow.of(ofAll, { expert, choice, rationale, judged_at: Decisions.recordOf(decided).at }, 1)]
  }
  return votes.map((vote, i) => {
    const judged_at = DateTime.formatIso(DateTime.makeUnsafe(storedVotes[i]!.given_at))
    return VoteRow.of(ofAll, { ...vote, judged_at }, i + 1)
  })
}

export const make = Effect.gen(function* () {
  const { sql } = yield* Database
  const requests = yield* TaskRequests
  const { conditionsOf } = makeFilters(sql)
  const readDecisions = Decisions.readFrom(sql)

  const pageAfter = Effect.fnUntraced(function* (
    after: number,
    lastVote: number,
    { organization, ...filter }: VoteFilter,
  ) {
    // Without this yield, other requests would wait for the whole table, and all its bytes would be in memory.
    yield* Effect.yieldNow
    const rows = yield* sql<{ item_id: number; task_id: string; chars: number }>`SELECT item.item_id, task_id,
        (SELECT TOTAL(LENGTH(body)) FROM vote WHERE vote.item_id = item.item_id) AS chars
      FROM item CROSS JOIN task ON task.seq = item.item_id / ${maxPrompts}
        LEFT JOIN item_text ON item_text.item_id = item.item_id LEFT JOIN decision ON decision.item_id = item.item_id
        LEFT JOIN disputed ON disputed.item_id = item.item_id
      WHERE ${sql.and([
        sql`item.item_id > ${after} AND status <> 'cancelled' AND (decision.choice IS NOT NULL OR (item.votes > 0 AND decision.item_id IS NULL))`,
        ...(organization === undefined ? [] : [sql`organization = ${organization}`]),
        ...conditionsOf(filter),
      ])}
      ORDER BY item.item_id LIMIT ${itemsAtOnce}`
    let chars = 0
    const beyond = rows.findIndex((item, i) => (chars += item.chars) > maxReadChars && i > 0)
    const items = beyond === -1 ? rows : rows.slice(0, beyond)
    const ids = sql`(SELECT value FROM json_each(${JSON.stringify(items.map(({ item_id }) => item_id))}))`
    const votes =
      yield* sql<GivenVote>`SELECT n, item_id, expert_no, expert_id, expert.kind AS expert_kind, choice, body,
        given_at
      FROM vote JOIN expert USING (expert_no) WHERE item_id IN ${ids} AND n <= ${lastVote} ORDER BY item_id, n`
    const decisions = yield* readDecisions(items[0]?.item_id ?? 0, items.at(-1)?.item_id ?? -1)
    const flags = yield* sql<Omit<Voting.FlagRow, "name">>`SELECT item_id, expert_id, flag.kind, comment
      FROM flag JOIN expert USING (expert_no) WHERE item_id IN ${ids} ORDER BY item_id, at`
    const votesOf = Map.groupBy(votes, ({ item_id }) => item_id)
    const flagsOf = Map.groupBy(flags, ({ item_id }) => item_id)
    const page = items.map(({ item_id, task_id }) => ({
      item_id,
      task_id,
      votes: votesOf.get(item_id) ?? [],
      flags: (flagsOf.get(item_id) ?? []).map(Voting.flagOf),
      decided: chosenIn(decisions.get(item_id)),
    }))
    const isLast = beyond === -1 && rows.length < itemsAtOnce
    return [page, isLast ? Option.none<number>() : Option.some(items.at(-1)!.item_id)] as const
  })

  /** @param raw whether CSV keeps texts unchanged, even those that a spreadsheet would run as formulas */
  const exportVotes = (format: VoteRow.Format, filter: VoteFilter, raw = false): Stream.Stream<Uint8Array, SqlError> =>
    Stream.unwrap(
      Effect.map(sql<{ n: number }>`SELECT COALESCE(MAX(n), 0) AS n FROM vote`, ([last]) =>
        Stream.concat(
          Stream.succeed(VoteRow.headOf(format, raw)),
          Stream.paginate(0, (after) => pageAfter(after, last!.n, filter)).pipe(
            Stream.mapEffect(({ decided, flags, item_id, task_id, votes }) =>
              Effect.map(requests.of(seqOf(item_id)), ({ prompts }) =>
                rowsOf(task_id, prompts[promptIndexOf(item_id)]!, votes, flags, decided),
              ),
            ),
            Stream.flattenIterable,
            Stream.filter(({ expert }) => filter.expert === undefined || expert === filter.expert),
            // Records pass one by one, so that memory never contains the texts of all records of an item at once.
            Stream.rechunk(1),
            Stream.map((row) =>
              VoteRow.encode(format, [format === "csv" && !raw ? SpreadsheetCell.neutralizeTexts(row) : row], raw),
            ),
          ),
        ).pipe(gather),
      ),
    )

  return { exportVotes }
})
