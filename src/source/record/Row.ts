/** A record of a file before its layout is known. Values are JSON values, with `__proto__` as an ordinary member. */
import { Result } from "effect"
import type { Origin } from "../../domain/Origin.ts"
import type { ItemIdentity, PromptItem } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import { isObject } from "../../io/Values.ts"

export interface Place extends Origin {
  /** The original text, or JSON if the format is not text. It may be computed on access. */
  readonly raw: string | undefined
}

export interface Row {
  readonly place: Place
  readonly value: unknown
  /** Whether each cell is text, as in CSV. Lists, objects, and numbers are then texts, too. */
  readonly isTextual?: true | undefined
  /** True if no text can have a lone surrogate, because the record was decoded from UTF-8 and has no escapes. */
  readonly isWellFormed?: boolean | undefined
  readonly json?: string | undefined
  readonly plain?: PlainItem | undefined
}

export interface PlainItem {
  /** The value from which `item` was read. If the row now has another `value`, `item` is ignored. */
  readonly of: unknown
  readonly item: PromptItem
  readonly identity: ItemIdentity
}

export type RowResult = Result.Result<Row, Reject>

export const withoutMembers = (names: ReadonlyArray<string>): ((row: Row) => Row) => {
  if (names.length === 0) return (row) => row
  return (row) =>
    isObject(row.value) && Object.keys(row.value).some((name) => names.includes(name))
      ? {
          ...row,
          // Assignment would fail for a member called `__proto__`.
          value: Object.fromEntries(Object.entries(row.value).filter(([name]) => !names.includes(name))),
        }
      : row
}

type Numbers = { readonly [Member in "line" | "row"]?: number | undefined }

export const originOf = ({ file, line, row }: Pick<Origin, "file"> & Numbers): Origin => {
  if (row === undefined) return line === undefined ? { file } : { file, line }
  return line === undefined ? { file, row } : { file, line, row }
}

export const reject = (place: Place, code: Reject["code"], reason: string): Result.Result<never, Reject> => {
  const { raw } = place
  return Result.fail({ ...originOf(place), code, reason, ...(raw === undefined ? undefined : { raw }) })
}
