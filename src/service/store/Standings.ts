/**
 * Decides whether a person may work, from the person's answers to gold items. Answers before the last `admit` or
 * `requalify` do not count. The order of commits, not the clock, decides which answers are earlier. An answer counts
 * even if its vote was voided.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { plural } from "../../io/Values.ts"
import { Database } from "../database/Database.ts"
import { countedGoldItems } from "../pageApi/PageConstants.ts"
import type * as Api from "../pageApi/QualificationApi.ts"

export interface Standing extends Api.Standing {
  readonly reason: string | undefined
}

const working: Standing = { state: "working", right: 0, judged: 0, reason: undefined }

export const make = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
  const { sql } = yield* Database

  const settings = Effect.map(
    sql<Api.QualificationSettings>`SELECT items, min_percent, pause_percent, guidelines FROM qualification_setting`,
    (rows) => rows[0],
  )

  const lastDecision = (expertNo: number) =>
    Effect.map(
      sql<{ n: number; last_vote: number; kind: "admit" | "requalify" | "none" }>`
        SELECT n, last_vote, kind FROM qualification WHERE expert_no = ${expertNo} AND kind <> 'item' ORDER BY n DESC LIMIT 1`,
      ([row = { n: 0, last_vote: 0, kind: "none" }]) => row,
    )

  /** Whether the person has given a vote with a number above `lastVote`. Void and undone votes count, too. */
  const hasVotedSince = (expertNo: number, lastVote: number) =>
    Effect.map(
      sql`SELECT 1 WHERE EXISTS (SELECT 1 FROM vote INDEXED BY vote_of_expert
          WHERE expert_no = ${expertNo} AND shown_at IS NOT NULL AND n > ${lastVote})
        OR EXISTS (SELECT 1 FROM hold INDEXED BY hold_of_expert
          WHERE expert_no = ${expertNo} AND held_until IS NOT NULL AND undone > ${lastVote})
        OR EXISTS (SELECT 1 FROM voiding CROSS JOIN voided_vote USING (voiding_id)
          WHERE voiding.expert_no = ${expertNo} AND n > ${lastVote})`,
      (rows) => rows.length > 0,
    )

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
    const isQualified = of === 0 || decision.kind === "admit" || (yield* hasVotedSince(expertNo, decision.last_vote))
    if (!isQualified && judged < of) {
      const judgedKeys = yield* judgedSince(expertNo, decision.n)
      return keys.some((key) => !judgedKeys.has(key))
        ? { state: "qualifying", judged, right, reason: undefined }
        : {
            state: "unavailable",
            judged,
            right,
            reason: "There are no more qualification items at present. Your lead can let you start work without them.",
          }
    }
    if (!isQualified && right * 100 < min_percent * judged) {
      const reason = `You judged ${right} of the ${judged} qualification ${plural(judged, "item")} right, but at least ${min_percent} % are needed. Your lead can let you start work, or have you qualify again.`
      return { state: "failed", judged, right, reason }
    }
    if (pause_percent === null) return { ...working, judged, right }
    const [latest] = yield* sql<{ right: number; judged: number }>`
      SELECT COALESCE(SUM(correct), 0) AS "right", COUNT(*) AS judged FROM (
        SELECT correct FROM (
          SELECT * FROM (SELECT correct, given_at FROM vote INDEXED BY vote_on_gold
            WHERE expert_no = ${expertNo} AND correct IS NOT NULL AND n > ${decision.last_vote}
            ORDER BY n DESC LIMIT ${countedGoldItems.max})
          UNION ALL SELECT correct, given_at FROM voided_vote INDEXED BY voided_vote_on_gold
            WHERE expert_no = ${expertNo} AND correct IS NOT NULL AND n > ${decision.last_vote}
          UNION ALL SELECT correct, given_at FROM qualification
            WHERE expert_no = ${expertNo} AND n > ${decision.n} AND correct IS NOT NULL
        ) ORDER BY given_at DESC LIMIT ${countedGoldItems.max})`
    const running = latest!
    if (running.judged < countedGoldItems.min || running.right * 100 >= pause_percent * running.judged) {
      return { ...working, ...running }
    }
    const reason = `You are paused: ${running.right} of your latest ${running.judged} answers to items with a known answer are right, but at least ${pause_percent} % are needed. Your lead can let you work again.`
    return { state: "paused", ...running, reason }
  })

  const standing = Effect.fnUntraced(function* (expertNo: number) {
    const required = yield* settings
    return required === undefined ? working : yield* standingOf(expertNo, required)
  })

  return { settings, lastDecision, standing, standingOf }
})
