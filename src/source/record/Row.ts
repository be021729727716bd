/**
 * A record of a file as its format returns it, before its layout is known.
 *
 * Guarantees: a format returns one `RowResult` per record, in order. Values are JSON values: null, text, numbers,
 * booleans, arrays, plain objects; `__proto__` is a member like any other.
 */
import { Result } from "effect"
import type { Origin } from "../../domain/Origin.ts"
import type { ItemIdentity, PromptItem } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import { isObject } from "../../io/Values.ts"

/** Where a record is, and its text for the reject. */
export interface Place extends Origin {
  /** As it is in the file; of a format without text, as JSON. May be computed on access. */
  readonly raw: string | undefined
}

export interface Row {
  readonly place: Place
  readonly value: unknown
  /** Set where cells hold text alone, so that lists, objects and numbers are in them as text (CSV). */
  readonly isTextual?: true | undefined
  /** Set where no text of it can have a lone surrogate: it was decoded from UTF-8, and has no escapes. */
  readonly isWellFormed?: boolean | undefined
  /** The text that was parsed, where it is JSON. */
  readonly json?: string | undefined
  /** The item that the value is, if it was read as bytes (`PlainThread`). */
  readonly plain?: PlainItem | undefined
}

export interface PlainItem {
  /** The row's value: another value that was made of it may be another item. */
  readonly of: unknown
  readonly item: PromptItem
  readonly identity: ItemIdentity
}

export type RowResult = Result.Result<Row, Reject>

/** Rows as if their records had no members of these names. */
export const without = (names: ReadonlyArray<string>): ((row: Row) => Row) => {
  if (names.length === 0) return (row) => row
  return (row) =>
    isObject(row.value) && Object.keys(row.value).some((name) => names.includes(name))
      ? {
          ...row,
          // Not by assignment, so that a member may be called `__proto__`.
          value: Object.fromEntries(Object.entries(row.value).filter(([name]) => !names.includes(name))),
        }
      : row
}

export const originOf = ({ file, line, row }: Origin): Origin => {
  if (row === undefined) return line === undefined ? { file } : { file, line }
  return line === undefined ? { file, row } : { file, line, row }
}

export const reject = (place: Place, code: Reject["code"], reason: string): Result.Result<never, Reject> => {
  const { raw } = place
  return Result.fail({ ...originOf(place), code, reason, ...(raw === undefined ? undefined : { raw }) })
}
