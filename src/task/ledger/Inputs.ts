/**
 * Which files were read, and which service judged: what a dataset's manifest says of where it comes from.
 *
 * Guarantees: a file stands once for each content that it had when it was read to its end.
 */
import { Effect, Option, Record } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { InputFile } from "../../domain/InputFile.ts"
import type { LedgerContext, Run } from "./Model.ts"
import { inChunks, settingOf } from "./Rows.ts"

export const make = ({ partition, sql, write }: LedgerContext) => {
  /** Remembers the files that a run has read. */
  const recordInputs = Effect.fn("Ledger.recordInputs")(function* (
    { campaign }: Pick<Run, "campaign">,
    files: ReadonlyArray<InputFile>,
  ) {
    const rows = files.map((file) => ({
      partition_id: partition,
      campaign,
      records: 0,
      sha256: "",
      etag: "",
      last_modified: "",
      ...file,
    }))
    yield* write(inChunks(rows, (rows) => sql`INSERT INTO input ${sql.insert(rows)} ON CONFLICT DO NOTHING`))
  })

  /** The files of a campaign's runs, or of all, by name. */
  const inputsOf = (campaign: Option.Option<number>): Effect.Effect<ReadonlyArray<InputFile>, SqlError> =>
    Effect.map(
      sql<
        Required<InputFile>
      >`SELECT DISTINCT file, bytes, records, sha256, etag, last_modified FROM input WHERE partition_id = ${partition} AND ${Option.match(
        campaign,
        { onNone: () => sql.literal("1 = 1"), onSome: (campaign) => sql`campaign = ${campaign}` },
      )} ORDER BY file, sha256, etag, last_modified`,
      (rows) =>
        rows.map(({ bytes, file, records, ...versions }) => ({
          file,
          bytes: Number(bytes),
          records: Number(records),
          ...Record.filter(versions, (text) => text !== ""),
        })),
    )

  /** The address of the service that the tasks are at; none before the first run. */
  const service = Effect.map(settingOf({ partition, sql }, "service"), Option.fromUndefinedOr).pipe(
    Effect.withSpan("Ledger.service"),
  )

  return { recordInputs, inputsOf, service }
}
