/**
 * The files that FILE arguments name: each a file, a folder, or a pattern such as `items/*.jsonl`.
 *
 * A pattern is for where no shell expands it: in a schedule, a pipe of commands or a container's
 * command line, so that each run finds the files that have come since the last one. A folder
 * stands for the JSONL files right in it.
 *
 * Guarantees: files are in the order of their arguments, and those of a pattern in that of their
 * names; none is named twice. A pattern or folder without files is said and not an error, since
 * the results of earlier files may still be outstanding; a file or a folder that is not there is one.
 */
import { Array as Arr, Console, Effect, FileSystem } from "effect"
import { UsageError } from "./ExitStatus.ts"

const isPattern = (text: string): boolean => /[*?[{]/.test(text)

/** What a pattern has to begin with: the folders before its first wildcard. */
const folderOf = (pattern: string): string => /^[^*?[{]*\//.exec(pattern)?.[0] ?? "."

/** The files of all arguments, by name. */
export const expand = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const filesOf = Effect.fnUntraced(function* (text: string) {
    // A file may well be called [1].jsonl.
    const exists = yield* fs.exists(text)
    if (exists && (yield* fs.stat(text)).type !== "Directory") return [text]
    if (!exists && (!isPattern(text) || !(yield* fs.exists(folderOf(text))))) {
      return yield* new UsageError({ message: `${text}: there is no such file` })
    }
    const pattern = exists ? "*.jsonl" : text
    const root = exists ? text.replace(/\/+$/, "") : undefined
    const matches = yield* fs.glob(pattern, { root })
    const paths = matches.map((match) => (root === undefined ? match : `${root}/${match}`))
    const files = yield* Effect.filter(paths, (path) => Effect.map(fs.stat(path), ({ type }) => type !== "Directory"))
    if (files.length === 0) yield* Console.error(`${text}: no ${exists ? "JSONL file in it" : "file matches"} yet`)
    return files
  })
  return Arr.dedupe((yield* Effect.forEach(given, filesOf)).flat())
})
