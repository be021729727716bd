/** Sources of prompt items. Files are opened when `records` runs, not before. */
export { files, type FilesOptions } from "./Files.ts"
export { type GoldFileOptions, read as gold, UnusableGoldFile } from "./GoldFile.ts"
export { join, type JoinOptions } from "./JoinFiles.ts"
export { make, type MakeOptions } from "./Make.ts"
export type { LayoutName, LayoutOptions } from "./layout/Layout.ts"
export {
  FileNotFound,
  FileUnreadable,
  InvalidOption,
  LayoutUnknown,
  ScratchFailed,
  SourceError,
} from "./record/SourceError.ts"
export { texts } from "./Texts.ts"
export { votes, type VoteSource, type VotesOptions } from "./VoteFiles.ts"
export type { ChoiceKind } from "./vote/Choice.ts"
export type { VoteOptions } from "./vote/VoteFields.ts"
export type { ImportedVote } from "../domain/Vote.ts"
export type { VotedItem, VoteRecord } from "../domain/VotedItem.ts"
export type { InputSummary, Source, SourceRecord } from "./record/SourceRecord.ts"
