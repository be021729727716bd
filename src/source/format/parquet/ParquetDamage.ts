/**
 * What is wrong with a Parquet file, thrown by those who decode it, and turned into a `SourceError` by
 * `ParquetRowGroup` and `ParquetFooter`: decoders run in large synchronous steps.
 */
import { Schema } from "effect"

export class Damage extends Schema.TaggedError<Damage>()("Damage", { problem: Schema.String }) {
  override get message(): string {
    return this.problem
  }
}

/** @throws Damage */
export const damaged = (problem: string): never => {
  throw new Damage({ problem })
}

const isDamage = Schema.is(Damage)

/** One line, of whatever was thrown. */
export const problemOf = (cause: unknown): string =>
  isDamage(cause) ? cause.problem : `it is damaged (${cause instanceof Error ? cause.message : String(cause)})`
