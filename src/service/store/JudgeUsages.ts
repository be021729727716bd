/**
 * Adds the tokens of language models' votes, and their cost, to the counters of the experts.
 *
 * Guarantees: costs are exact decimals. Use it inside the `Database.write` that stores the votes.
 */
import { Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import * as Cost from "../../domain/Cost.ts"
import * as JudgeUsage from "../../domain/JudgeUsage.ts"
import type { Vote } from "../../domain/Vote.ts"

export const add = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  votes: ReadonlyArray<{ readonly expertNo: number; readonly vote: Vote }>,
) {
  const usages = votes.flatMap(({ expertNo, vote }) =>
    vote.kind === "judge" ? Option.toArray(JudgeUsage.read(vote.details)).map((usage) => ({ expertNo, usage })) : [],
  )
  for (const [expert_no, of] of Map.groupBy(usages, ({ expertNo }) => expertNo)) {
    const [row] = yield* sql<{ cost: string | null }>`SELECT cost FROM judge_usage WHERE expert_no = ${expert_no}`
    const earlier = Option.getOrUndefined(Cost.parseExact(row?.cost ?? ""))
    const cost = of.reduce((cost, { usage }) => JudgeUsage.plus(cost, usage.paid), earlier)
    const sum = (member: "requests" | "promptTokens" | "completionTokens") =>
      of.reduce((sum, { usage }) => sum + usage[member], 0)
    yield* sql`INSERT INTO judge_usage ${sql.insert({
      expert_no,
      requests: sum("requests"),
      prompt_tokens: sum("promptTokens"),
      completion_tokens: sum("completionTokens"),
      cost: cost === undefined ? null : Cost.format(Cost.shortest(cost)),
    })} ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
      prompt_tokens = prompt_tokens + excluded.prompt_tokens,
      completion_tokens = completion_tokens + excluded.completion_tokens, cost = excluded.cost`
  }
})
