/**
 * The source that a command line describes, and the files that FILE arguments name: each a file, a folder, or a pattern such as `items/*.jsonl`.
 *
 * A pattern is for where no shell expands it: in a schedule, a pipe of commands or a container's
 * command line, so that each run finds the files that have come since the last one. A folder
 * stands for the JSONL files right in it.
 *
 * Guarantees: files are in the order of their arguments, and those of a pattern in that of their
 * names; none is named twice. A pattern or folder without files is said and not an error, since
 * the results of earlier files may still be outstanding; a file or a folder that is not there is one.
 */
import { Array as Arr, Console, Effect, FileSystem, Option, Record } from "effect"
import * as Source from "../source/Source.ts"
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

/** What means nothing without `--completions`. */
const joinFlags = {
  key: "--key",
  promptPath: "--prompt-path",
  completionPath: "--completion-path",
  missing: "--missing",
} as const

/** The source that the flags of the input describe. */
export const sourceOf = Effect.fnUntraced(function* (flags: {
  readonly files: ReadonlyArray<string>
  readonly completions: ReadonlyArray<string>
  readonly key: Option.Option<string>
  readonly promptPath: Option.Option<string>
  readonly completionPath: Option.Option<string>
  readonly missing: Option.Option<"reject" | "keep">
}) {
  const fs = yield* FileSystem.FileSystem
  const [prompts, ...more] = flags.files
  if (prompts === undefined)
    return yield* new UsageError({ message: "name at least one input file, such as data/sample.jsonl" })
  if (flags.completions.length === 0) {
    const ofJoin = Record.keys(joinFlags).filter((name) => Option.isSome(flags[name]))
    if (ofJoin.length === 0) {
      const files = yield* expand(flags.files)
      return files.length === 0 ? { ...Source.fromIterable([]), description: "no file" } : Source.jsonl(files)
    }
    return yield* new UsageError({
      message: `${ofJoin.map((name) => joinFlags[name]).join(", ")}: only for a join, with --completions`,
    })
  }
  if (more.length > 0) return yield* new UsageError({ message: "with --completions, name one file of prompts" })
  for (const file of [prompts, ...flags.completions]) {
    if (!(yield* fs.exists(file))) return yield* new UsageError({ message: `${file}: there is no such file` })
  }
  if (flags.completions.length < 2) {
    return yield* new UsageError({ message: "--completions: name two files or more, one for each model" })
  }
  return Source.join({
    prompts,
    completions: flags.completions,
    key: Option.getOrElse(flags.key, () => "id"),
    promptPath: Option.getOrElse(flags.promptPath, () => "prompt"),
    completionPath: Option.getOrElse(flags.completionPath, () => "completion"),
    missing: Option.getOrElse(flags.missing, () => "reject"),
  })
})
