/** What is wrong with a Parquet file, thrown by synchronous decoders; `RowGroup` and `Footer` make it a `SourceError`. */
import { Schema } from "effect"
import { causeMessage } from "../../../io/Values.ts"

export class CorruptFile extends Schema.TaggedError<CorruptFile>()("CorruptFile", { problem: Schema.String }) {
  override get message(): string {
    return this.problem
  }
}

/** @throws CorruptFile */
export const corrupt = (problem: string): never => {
  throw new CorruptFile({ problem })
}

const isCorruptFile = Schema.is(CorruptFile)

/** One line, of whatever was thrown. */
export const problemOf = (cause: unknown): string =>
  isCorruptFile(cause) ? cause.problem : `it is damaged (${causeMessage(cause)})`
