/** The counts and the rejects of earlier runs. Only the last run that read a file counts, so no record counts twice. */
import { Effect, Option, Stream } from "effect"
import type { Reject } from "../../../domain/Reject.ts"
import type { SqlError } from "effect/sql/SqlError"
import type { LedgerContext, ReadCounts } from "../schema/Model.ts"
import { readStreams } from "./Streams.ts"

export const readEarlierRuns = (context: LedgerContext) => {
  const { job, sql } = context
  const { rejects } = readStreams(context)
  const within = (campaign: Option.Option<number>) =>
    Option.match(campaign, {
      onNone: () => sql`job = ${job}`,
      onSome: (campaign) => sql`job = ${job} AND campaign = ${campaign}`,
    })

  const lastReads = Effect.fnUntraced(function* (campaign: Option.Option<number>) {
    const rows = yield* sql<{ file: string; run: number; records: number }>`
      SELECT file, run, records FROM input WHERE ${within(campaign)} ORDER BY run`
    const runOf = new Map(rows.map(({ file, run }) => [file, run]))
    const recordsOf = new Map<number, number>()
    for (const { file, records, run } of rows) {
      if (runOf.get(file) === run) recordsOf.set(run, (recordsOf.get(run) ?? 0) + records)
    }
    return { runOf, recordsOf }
  })

  /** Leaves out a run if it read a file only in part, or if a later run read one of its files. */
  const earlierRuns = Effect.fn("Ledger.earlierRuns")(function* (run: number, campaign: Option.Option<number>) {
    const { recordsOf } = yield* lastReads(campaign)
    const runs = yield* sql<
      Pick<ReadCounts, "read" | "known" | "duplicates" | "reordered"> & { readonly run: number }
    >`SELECT run, read_count AS read, known_count AS known, duplicate_count AS duplicates,
        reordered_count AS reordered FROM run WHERE ${within(campaign)} AND run < ${run} AND read_count > 0 ORDER BY run`
    return runs.filter(({ read, run }) => recordsOf.get(run) === read)
  })

  const earlierRejects = (run: number, campaign: Option.Option<number>): Stream.Stream<Reject, SqlError> =>
    Effect.gen(function* () {
      const runs = yield* sql<{ run: number; finished: number }>`
        SELECT run, read_finished AS finished FROM run WHERE ${within(campaign)} AND run < ${run} AND rejected_count > 0
          AND (read_finished = 0 OR run IN (SELECT run FROM input WHERE job = ${job})) ORDER BY run DESC`
      if (runs.length === 0) return Stream.empty
      const { runOf } = yield* lastReads(campaign)
      const laterFiles = new Set<string>()
      yield* Stream.runForEach(rejects(run), ({ file }) => Effect.sync(() => void laterFiles.add(file)))
      return Stream.flatMap(Stream.fromIterable(runs), ({ finished, run }) => {
        const own = new Set<string>()
        const isLast = ({ file }: Reject) => {
          own.add(file)
          const last = runOf.get(file)
          return !laterFiles.has(file) && (last === run || (finished === 0 && (last === undefined || last < run)))
        }
        return rejects(run).pipe(
          Stream.filter(isLast),
          Stream.onEnd(Effect.sync(() => own.forEach((file) => laterFiles.add(file)))),
        )
      })
    }).pipe(Stream.unwrap)

  return { earlierRuns, earlierRejects }
}
