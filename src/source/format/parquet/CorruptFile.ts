/** Decoders throw this. `RowGroup` and `Footer` convert it to a `SourceError`. */
import { Schema } from "effect"
import { causeMessage } from "../../../io/Values.ts"

export class CorruptFile extends Schema.TaggedError<CorruptFile>()("CorruptFile", { problem: Schema.String }) {
  override get message(): string {
    return this.problem
  }
}

export const corrupt = (problem: string): never => {
  throw new CorruptFile({ problem })
}

const isCorruptFile = Schema.is(CorruptFile)

export const problemOf = (cause: unknown): string =>
  isCorruptFile(cause) ? cause.problem : `damaged (${causeMessage(cause)})`
