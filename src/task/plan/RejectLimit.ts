/**
 * Limits how many records of a run may be rejected. The reader calls `add` after each group of records.
 * - If the limit is a number, each `add` checks the limit.
 * - If the limit is a percentage, `end` checks the limit. After the first 1,000 records, each `add` checks the limit, too.
 * - Without a limit, reading stops if the first 100,000 records were all rejected.
 */
import { Effect, Option, Schema } from "effect"
import { count, number, plural } from "../../io/Values.ts"

/** A number of at least 0, or a percentage of at most 100, such as `1%` or `0.5%`. */
export type RejectLimit = number | `${number}%`

export interface ReadAndRejected {
  readonly read: number
  readonly rejected: number
}

const grammar = /^(\d{1,9})(?:\.(\d{1,9}))?%$/

const fractionOf = (percentage: string): { readonly above: bigint; readonly below: bigint } => {
  const [, whole = "0", decimals = ""] = grammar.exec(percentage) ?? []
  return { above: BigInt(whole + decimals), below: 100n * 10n ** BigInt(decimals.length) }
}

const isShare = (text: string): text is `${number}%` => {
  if (!grammar.test(text)) return false
  const { above, below } = fractionOf(text)
  return above <= below
}

/** Parses `0`, `1%`, or `0.5%`. None if the text is neither a whole number nor a percentage of at most 100. */
export const parseLimit = (text: string): Option.Option<RejectLimit> => {
  if (isShare(text)) return Option.some(text)
  return /^\d{1,15}$/.test(text) ? Option.some(Number(text)) : Option.none()
}

export const isLimit = (limit: unknown): limit is RejectLimit =>
  typeof limit === "number" ? Number.isSafeInteger(limit) && limit >= 0 : typeof limit === "string" && isShare(limit)

export const allows = (limit: RejectLimit, { read, rejected }: ReadAndRejected): boolean => {
  if (typeof limit === "number") return rejected <= limit
  const { above, below } = fractionOf(limit)
  return BigInt(rejected) * below <= BigInt(read) * above
}

/** More records were rejected than the run allows. */
export class TooManyRejects extends Schema.TaggedError<TooManyRejects>()("TooManyRejects", {
  /** Number of records that were read. */
  read: Schema.Int,
  /** Number of rejected records. */
  rejected: Schema.Int,
  /** The limit, or null if none is set. */
  limit: Schema.NullOr(Schema.Union([Schema.Int, Schema.TemplateLiteral([Schema.Number, "%"])])),
}) {
  override get message() {
    const { limit, read, rejected } = this
    if (limit === null) {
      return `the first ${number(read)} records were all rejected. Check the files and their layout with prefstream validate; to continue anyway, set \`maxRejects: "100%"\``
    }
    const [rejects, allowed] =
      typeof limit === "number"
        ? [count(rejected, "record"), number(limit)]
        : [`${number(rejected)} of ${count(read, "record")}`, limit]
    return `${rejects} ${plural(rejected, "was", "were")} rejected, but \`maxRejects\` allows ${allowed}`
  }
}

const enoughForShare = 1000

const enoughForNone = 100_000

export const isHopeless = ({ read, rejected }: ReadAndRejected): boolean => read >= enoughForNone && rejected >= read

export const counter = (limit: RejectLimit | undefined) => {
  let read = 0
  let rejected = 0
  let ended = false
  const isTooMany = (): boolean =>
    limit === undefined
      ? !ended && isHopeless({ read, rejected })
      : (typeof limit === "number" || ended || read >= enoughForShare) && !allows(limit, { read, rejected })
  const check = Effect.suspend(() =>
    isTooMany() ? Effect.fail(new TooManyRejects({ read, rejected, limit: limit ?? null })) : Effect.void,
  )
  return {
    isTooMany,
    add: (more: ReadAndRejected): Effect.Effect<void, TooManyRejects> =>
      Effect.suspend(() => {
        read += more.read
        rejected += more.rejected
        return check
      }),
    end: Effect.suspend(() => {
      ended = true
      return check
    }),
  }
}

export type Counter = ReturnType<typeof counter>
