/**
 * Whether a person gets work, computed from what he or she judged: the qualification items, and other gold items.
 *
 * Guarantees: what counts is what came after the last decision of an operator about the person, if there was one. Void
 * votes count, too. Takes time in proportion to the gold items that were judged since.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Database } from "../database/Database.ts"
import type * as Api from "../pageApi/QualificationApi.ts"

export interface Standing extends Api.Standing {
  /** Why the person gets no work, in a plain sentence. */
  readonly reason: string | undefined
}

/** The latest gold items that a pause depends on, and the least. */
const runningItems = 20
const minRunningItems = 5

const working: Standing = { state: "working", right: 0, judged: 0, reason: undefined }

/** @param keys of the items of the gold file */
export const make = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
  const { sql } = yield* Database

  const settings = Effect.map(
    sql<Api.QualificationSettings>`SELECT items, min_percent, pause_percent, guidelines FROM qualification_setting`,
    (rows) => rows[0],
  )

  /** What an operator decided last about the person. */
  const lastDecision = (expertNo: number) =>
    Effect.map(
      sql<{ n: number; at: number; kind: "admit" | "requalify" | "none" }>`
        SELECT n, at, kind FROM qualification WHERE expert_no = ${expertNo} AND kind <> 'item' ORDER BY n DESC LIMIT 1`,
      ([row = { n: 0, at: -1, kind: "none" }]) => row,
    )

  /** Also if the vote was taken back, and is being given again. */
  const hasVotedSince = (expertNo: number, at: number) =>
    Effect.map(
      sql`SELECT 1 WHERE (SELECT given_at FROM vote INDEXED BY vote_of_person
          WHERE expert_no = ${expertNo} AND shown_at IS NOT NULL ORDER BY n DESC LIMIT 1) > ${at}
        OR EXISTS (SELECT 1 FROM hold INDEXED BY hold_of_expert
          WHERE expert_no = ${expertNo} AND held_until IS NOT NULL AND undone = 1 AND shown_at > ${at})
        OR EXISTS (SELECT 1 FROM voiding CROSS JOIN voided_vote USING (voiding_id)
          WHERE voiding.expert_no = ${expertNo} AND given_at > ${at})`,
      (rows) => rows.length > 0,
    )

  /** The keys of the items that the person judged in this round. */
  const judgedSince = (expertNo: number, n: number) =>
    Effect.map(
      sql<{ gold: string }>`SELECT gold FROM qualification
        WHERE expert_no = ${expertNo} AND n > ${n} AND kind = 'item' AND given_at IS NOT NULL`,
      (rows) => new Set(rows.map((row) => row.gold)),
    )

  const standingOf = Effect.fnUntraced(function* (
    expertNo: number,
    required: Api.QualificationSettings,
  ): Effect.fn.Return<Standing, SqlError> {
    const { items: of, min_percent, pause_percent } = required
    const decision = yield* lastDecision(expertNo)
    const [round] = yield* sql<{ right: number; judged: number }>`
      SELECT COALESCE(SUM(correct), 0) AS "right", COUNT(correct) AS judged FROM qualification
      WHERE expert_no = ${expertNo} AND n > ${decision.n} AND kind = 'item'`
    const { judged, right } = round!
    const isQualified = of === 0 || decision.kind === "admit" || (yield* hasVotedSince(expertNo, decision.at))
    if (!isQualified && judged < of) {
      const known = yield* judgedSince(expertNo, decision.n)
      return keys.some((key) => !known.has(key))
        ? { state: "qualifying", judged, right, reason: undefined }
        : {
            state: "unavailable",
            judged,
            right,
            reason: "There are no more items for your qualification at present. Your lead can let you in.",
          }
    }
    if (!isQualified && right * 100 < min_percent * judged) {
      const reason = `You judged ${right} of the ${judged} qualification items right, and at least ${min_percent} % are needed. Your lead can let you in, or have you qualify again.`
      return { state: "failed", judged, right, reason }
    }
    if (pause_percent === null) return { ...working, judged, right }
    const [latest] = yield* sql<{ right: number; judged: number }>`
      SELECT COALESCE(SUM(correct), 0) AS "right", COUNT(*) AS judged FROM (
        SELECT correct FROM (
          SELECT * FROM (SELECT correct, given_at FROM vote INDEXED BY vote_on_gold
            WHERE expert_no = ${expertNo} AND correct IS NOT NULL AND given_at > ${decision.at}
            ORDER BY n DESC LIMIT ${runningItems})
          UNION ALL SELECT correct, given_at FROM voided_vote INDEXED BY voided_vote_on_gold
            WHERE expert_no = ${expertNo} AND correct IS NOT NULL AND given_at > ${decision.at}
          UNION ALL SELECT correct, given_at FROM qualification
            WHERE expert_no = ${expertNo} AND n > ${decision.n} AND correct IS NOT NULL
        ) ORDER BY given_at DESC LIMIT ${runningItems})`
    const running = latest!
    if (running.judged < minRunningItems || running.right * 100 >= pause_percent * running.judged) {
      return { ...working, ...running }
    }
    const reason = `You are paused: of your latest ${running.judged} items with a known answer you judged ${running.right} right, and at least ${pause_percent} % are needed. Your lead can let you in again.`
    return { state: "paused", ...running, reason }
  })

  const standing = Effect.fnUntraced(function* (expertNo: number) {
    const required = yield* settings
    return required === undefined ? working : yield* standingOf(expertNo, required)
  })

  return { settings, lastDecision, standing, standingOf }
})
