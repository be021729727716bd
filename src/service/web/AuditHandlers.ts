/** Implements the part of `DashboardApi` about the audit log. The export reads `exportedAtOnce` entries at a time. */
import { Effect, Option, Stream, Struct } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Database } from "../database/Database.ts"
import type { AuditEntry } from "../pageApi/AuditApi.ts"
import { DashboardApi } from "../pageApi/DashboardApi.ts"

const pageSize = 50
const maxPageSize = 200
const exportedAtOnce = 1000

interface Row extends Omit<AuditEntry, "details"> {
  readonly n: number
  readonly details: string
}

const entryOf = ({ details, ...row }: Row): AuditEntry => ({
  ...Struct.omit(row, ["n"]),
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `Audit.record`
  details: JSON.parse(details) as AuditEntry["details"],
})

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "audit",
  Effect.fnUntraced(function* (handlers) {
    const { sql } = yield* Database
    const columns = sql.literal("n, at, operator_no, actor, action, subject, details")
    const matching = ({ action, actor }: { readonly actor?: string; readonly action?: string }) =>
      sql.and([
        sql`1 = 1`,
        ...(actor === undefined ? [] : [sql`actor = ${actor}`]),
        ...(action === undefined ? [] : [sql`action = ${action}`]),
      ])

    const distinct = (column: "actor" | "action") =>
      Effect.map(
        sql<{ value: string }>`WITH RECURSIVE found (value) AS (
            SELECT MIN(${sql(column)}) FROM audit_entry
            UNION ALL SELECT (SELECT MIN(${sql(column)}) FROM audit_entry WHERE ${sql(column)} > value)
              FROM found WHERE value IS NOT NULL
          ) SELECT value FROM found WHERE value IS NOT NULL`,
        (rows) => rows.map(({ value }) => value),
      )

    return handlers.handleAll({
      list: ({ query }) =>
        Effect.orDie(
          Effect.gen(function* () {
            const limit = Math.min(Math.max(query.limit ?? pageSize, 1), maxPageSize)
            const rows = yield* sql<Row>`SELECT ${columns} FROM audit_entry
              WHERE n < ${query.before ?? Number.MAX_SAFE_INTEGER} AND ${matching(query)}
              ORDER BY n DESC LIMIT ${limit + 1}`
            const shown = rows.slice(0, limit)
            return {
              entries: shown.map(entryOf),
              next: rows.length > limit ? shown.at(-1)!.n : null,
              actors: yield* distinct("actor"),
              actions: yield* distinct("action"),
            }
          }),
        ),
      export: ({ query }) =>
        Effect.succeed(
          Stream.paginate(0, (after) =>
            Effect.map(
              sql<Row>`SELECT ${columns} FROM audit_entry WHERE n > ${after} AND ${matching(query)}
                ORDER BY n LIMIT ${exportedAtOnce}`,
              (rows) =>
                [
                  rows.map(entryOf),
                  rows.length === exportedAtOnce ? Option.some(rows.at(-1)!.n) : Option.none<number>(),
                ] as const,
            ),
          ).pipe(Stream.orDie),
        ),
    })
  }),
)
