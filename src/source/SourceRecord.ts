/**
 * What every source gives, whatever it reads.
 *
 * Guarantees: one `SourceRecord` for each record read, so that records read are
 * items plus rejects by construction. Lines that hold only white space are no
 * records.
 */
import type { FileSystem, Path, Result, Stream } from "effect"
import type { SourceItem } from "../domain/PromptItem.ts"
import type { Reject } from "../domain/Reject.ts"
import type { SourceError } from "./SourceError.ts"

/** One record of the input: an item, or the reason why it was refused. */
export type SourceRecord = Result.Result<SourceItem, Reject>

export interface Source<out E = SourceError, out R = FileSystem.FileSystem | Path.Path> {
  /** For messages: `question.jsonl with 3 completions files, joined by question_id`. */
  readonly description: string
  /** Comes in arrays, one for each piece of the input. Fails only with what ends the run. */
  readonly records: Stream.Stream<SourceRecord, E, R>
}
