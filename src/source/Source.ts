/**
 * Where prompt items come from: files of any format and layout (`files`), prompts and
 * completions in separate files (`join`), or a program that has items already
 * (`fromIterable`, `fromStream`). `jsonl` is for JSON Lines of complete items alone.
 *
 * Every constructor only describes the source; nothing is opened before its
 * `records` are run.
 */
export { files, type FilesOptions } from "./Files.ts"
export { read as gold } from "./GoldFile.ts"
export { join, type JoinOptions } from "./Join.ts"
export { jsonl, type JsonLinesOptions } from "./JsonLinesItems.ts"
export { fromIterable, fromStream } from "./Memory.ts"
export { SourceError } from "./record/SourceError.ts"
export { texts } from "./Texts.ts"
export type { Found, Source, SourceRecord } from "./record/SourceRecord.ts"
