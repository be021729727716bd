/**
 * The rows of a join's completions files in a scratch database, found by key.
 *
 * Guarantees: memory stays bounded however large the files are; the database is
 * gone when the scope closes. Of the rows of a file with the same key the first one
 * is found; the later ones are rejects.
 */
import { Array, Context, Effect, FileSystem, Layer, Option, Path, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Reject } from "../../domain/Reject.ts"
import * as SqliteClient from "../../node/SqliteClient.ts"
import { fromPlatformError, ScratchFailed, SourceError } from "../SourceError.ts"

/** A row of a completions file: with its key, or refused. */
export type ScratchRow =
  | { readonly line: number; readonly key: string; readonly raw: string }
  | { readonly line: number; readonly reject: Reject }

/** A row whose key was asked for. */
export interface FoundRow {
  readonly key: string
  /** Index of the completions file. */
  readonly file: number
  readonly raw: string
}

/** A row that no prompt asked for, or that was refused. */
export interface LeftoverRow {
  /** Index of the completions file. */
  readonly file: number
  readonly line: number
  readonly key: string | null
  readonly raw: string | null
  /** As JSON. */
  readonly reject: string | null
}

/** Rows in one statement: their parameters stay far below SQLite's limit of 32,766. */
const rowsPerInsert = 1000

/** Rows in one answer. Each may be as large as a line may be. */
const rowsPerPage = 32

/** Keys come in no order: while their index fits in here, noting one costs no look into the file. */
const cacheBytes = 32 * 1024 * 1024

const failed = (error: SqlError): SourceError =>
  new SourceError({ reason: new ScratchFailed({ problem: error.message, cause: error }) })

/** In a new directory within `directory`, by default the system's own for temporary files. */
export const make = Effect.fnUntraced(function* (directory: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const place = yield* fs
    .makeTempDirectoryScoped({ prefix: "prefstream-join-", directory })
    .pipe(Effect.mapError((error) => fromPlatformError(directory ?? "the directory for temporary files", error)))
  const context = yield* Effect.mapError(
    Layer.build(SqliteClient.layer({ filename: path.join(place, "join.sqlite"), synchronous: "off", cacheBytes })),
    failed,
  )
  const sql = Context.get(context, SqlClient.SqlClient)

  // Without a journal every row is written once; what a failure leaves behind is thrown away anyway.
  // What is asked of every row stands before `raw`, so that looking for leftovers does not read it.
  yield* Effect.mapError(
    Effect.all([
      sql`PRAGMA journal_mode = OFF`,
      sql`CREATE TABLE entry (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, line INTEGER NOT NULL, reject TEXT, key TEXT, raw TEXT)`,
      sql`CREATE UNIQUE INDEX entry_key ON entry (key, file)`,
      sql`CREATE TABLE claim (key TEXT PRIMARY KEY, line INTEGER NOT NULL) WITHOUT ROWID`,
    ]),
    failed,
  )

  let rows = 0

  /** Rows of one file, in the order of their lines; `describeDuplicate` makes a reject of one whose key has a row already. */
  const insert = Effect.fnUntraced(function* (
    file: number,
    batch: ReadonlyArray<ScratchRow>,
    describeDuplicate: (row: { line: number; key: string; raw: string }, firstLine: number) => Reject,
  ) {
    const entries = batch.map((row) => ({
      id: ++rows,
      file,
      line: row.line,
      reject: "reject" in row ? JSON.stringify(row.reject) : null,
      key: "reject" in row ? null : row.key,
      raw: "reject" in row ? null : row.raw,
    }))
    for (const some of Array.chunksOf(entries, rowsPerInsert)) {
      const inserted = yield* sql<{
        id: number
      }>`INSERT INTO entry ${sql.insert(some)} ON CONFLICT DO NOTHING RETURNING id`
      if (inserted.length === some.length) continue
      const ids = new Set(inserted.map((row) => row.id))
      for (const { id, line, key, raw } of some) {
        if (ids.has(id) || key === null || raw === null) continue
        const [first] = yield* sql<{ line: number }>`SELECT line FROM entry WHERE key = ${key} AND file = ${file}`
        const reject = JSON.stringify(describeDuplicate({ line, key, raw }, first!.line))
        yield* sql`INSERT INTO entry ${sql.insert({ id, file, line, reject, key: null, raw: null })}`
      }
    }
  }, Effect.mapError(failed))

  /**
   * Notes keys that prompts ask for. What comes back are the lines of those that an
   * earlier prompt asked for, each with that prompt's line.
   */
  const claim = Effect.fnUntraced(function* (keys: ReadonlyArray<{ readonly key: string; readonly line: number }>) {
    const duplicates = new Map<number, number>()
    if (!Array.isReadonlyArrayNonEmpty(keys)) return duplicates
    const claimed = yield* sql<{
      line: number
    }>`INSERT INTO claim ${sql.insert(keys)} ON CONFLICT DO NOTHING RETURNING line`
    if (claimed.length === keys.length) return duplicates
    const lines = new Set(claimed.map((row) => row.line))
    for (const { key, line } of keys) {
      if (lines.has(line)) continue
      const [first] = yield* sql<{ line: number }>`SELECT line FROM claim WHERE key = ${key}`
      duplicates.set(line, first!.line)
    }
    return duplicates
  }, Effect.mapError(failed))

  /** For each key that has rows, these rows in the order of the files. */
  const find = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
    if (keys.length === 0) return new Map<string, Array<FoundRow>>()
    const found = yield* sql<FoundRow>`
      SELECT key, file, raw FROM entry WHERE ${sql.in("key", keys)} ORDER BY key, file`
    return Map.groupBy(found, (row) => row.key)
  }, Effect.mapError(failed))

  /** Rows without a claim and refused rows, in the order of files and lines. */
  const leftovers: Stream.Stream<LeftoverRow, SourceError> = Stream.paginate(0, (after: number) =>
    sql<LeftoverRow & { id: number }>`
      SELECT id, file, line, reject, key, raw FROM entry
      WHERE id > ${after} AND (reject IS NOT NULL OR NOT EXISTS (SELECT 1 FROM claim WHERE claim.key = entry.key))
      ORDER BY id LIMIT ${rowsPerPage}`.pipe(
      Effect.map((page) => {
        const last = page.length === rowsPerPage ? page.at(-1) : undefined
        return [page, Option.map(Option.fromUndefinedOr(last), (row) => row.id)] as const
      }),
      Effect.mapError(failed),
    ),
  )

  /** Runs inserts in one transaction: each alone would be several times slower. */
  const inTransaction = <A, R>(effect: Effect.Effect<A, SourceError, R>): Effect.Effect<A, SourceError, R> =>
    sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(failed(error))))

  return { insert, claim, find, leftovers, inTransaction }
})
