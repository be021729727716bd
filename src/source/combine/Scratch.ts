/**
 * A temporary SQLite database for joins and groups that exceed memory.
 *
 * Guarantees: only the owner can read it; it is deleted with the scope or the process: where the system permits, its
 * file is unlinked once it is open (so `df` shows its size, `du` does not); leftovers on other systems are removed by
 * the next one in the same folder. It is not durable: no journal, no sync.
 */
import { Clock, Context, Effect, FileSystem, Layer, Option, Path } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as SqliteClient from "../../node/SqliteClient.ts"
import { fromPlatformError, ScratchFailed, SourceError } from "../record/SourceError.ts"

export type Value = string | number | Uint8Array | null

export interface Scratch {
  /** @param parameters of the `?` in the statement, in their order */
  readonly run: <Row extends object>(
    statement: string,
    parameters?: ReadonlyArray<Value>,
  ) => Effect.Effect<ReadonlyArray<Row>, SourceError>
  /** Appends rows, each with a value for every column. */
  readonly append: (table: Table, rows: ReadonlyArray<ReadonlyArray<Value>>) => Effect.Effect<void, SourceError>
  /** Runs a statement that sorts: what it cannot sort in memory goes where the database is. */
  readonly sort: (statement: string) => Effect.Effect<void, SourceError>
}

export interface Table {
  readonly name: string
  readonly columns: ReadonlyArray<string>
}

const prefix = "prefstream-scratch-"

/** For pages: an index of a million short keys fits. */
const cacheBytes = 32 * 1024 * 1024

/**
 * Rows of one statement, a power of two, as are all smaller numbers that are used: of each number there is one
 * statement, which stays prepared and takes room.
 */
const maxRows = 64

const failed = (error: SqlError): SourceError =>
  new SourceError({ reason: new ScratchFailed({ problem: error.message, cause: error }) })

/** Made within `directory`, by default the system's own for temporary files. */
export const make = Effect.fnUntraced(function* (directory: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs
    .makeTempDirectoryScoped({ prefix, directory })
    .pipe(Effect.mapError((error) => fromPlatformError(directory ?? "the directory for temporary files", error)))
  yield* removeStale(path.dirname(folder))
  const filename = path.join(folder, "scratch.sqlite")
  const context = yield* Effect.mapError(
    Layer.build(SqliteClient.layer({ filename, synchronous: "off", cacheBytes })),
    failed,
  )
  const sql = Context.get(context, SqlClient.SqlClient)

  const run: Scratch["run"] = <Row extends object>(statement: string, parameters: ReadonlyArray<Value> = []) =>
    Effect.mapError(sql.unsafe<Row>(statement, parameters), failed)

  yield* run("PRAGMA journal_mode = OFF")
  yield* run("PRAGMA locking_mode = EXCLUSIVE")
  // What is longer stands in a chain of pages, each read by itself.
  yield* run("PRAGMA page_size = 8192")
  yield* run("VACUUM")
  // Where an open file cannot be removed, it stays until the scope closes.
  yield* Effect.ignore(fs.remove(folder, { recursive: true }))

  const statements = new Map<string, string>()
  const insertOf = ({ columns, name }: Table, count: number) => {
    const key = `${name} ${count}`
    const known = statements.get(key)
    if (known !== undefined) return known
    const row = `(${columns.map(() => "?").join(", ")})`
    const statement = `INSERT INTO ${name} (${columns.join(", ")}) VALUES ${Array.from({ length: count }, () => row).join(", ")}`
    statements.set(key, statement)
    return statement
  }
  const append: Scratch["append"] = Effect.fnUntraced(function* (table, rows) {
    let count = maxRows
    for (let start = 0; start < rows.length; start += count) {
      while (count > rows.length - start) count /= 2
      yield* run(insertOf(table, count), rows.slice(start, start + count).flat())
    }
  })

  // The pragma acts when it is prepared, for the whole process: it is set for this one statement.
  const sortIn = (place: string) =>
    Effect.mapError(sql.unsafe(`PRAGMA temp_store_directory = '${place.replaceAll("'", "''")}'`).unprepared, failed)
  const sort: Scratch["sort"] = (statement) =>
    directory === undefined
      ? run(statement)
      : Effect.acquireUseRelease(
          sortIn(path.resolve(directory)),
          () => run(statement),
          () => Effect.ignore(sortIn("")),
        )

  const scratch: Scratch = { run, append, sort }
  return scratch
})

/** One that is being made has its name for milliseconds. */
const staleAfter = 60_000

/** What cannot be removed is in use, or another user's. */
const removeStale = Effect.fnUntraced(
  function* (directory: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const now = yield* Clock.currentTimeMillis
    for (const name of yield* fs.readDirectory(directory)) {
      if (!name.startsWith(prefix)) continue
      const folder = path.join(directory, name)
      const { mtime } = yield* fs.stat(folder)
      const changed = Option.map(mtime, (date) => date.getTime())
      if (Option.exists(changed, (time) => now - time > staleAfter)) {
        yield* Effect.ignore(fs.remove(folder, { recursive: true }))
      }
    }
  },
  (effect) => Effect.ignore(effect),
)
