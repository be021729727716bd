/** Formats texts for the terminal. `printable` replaces control characters, which a terminal would execute. */
import { Clock, Console, Effect } from "effect"
import { inFlags } from "./Flags.ts"
import * as LogFormat from "./LogFormat.ts"
import { editsBetween, maxEdits } from "../../io/NearestName.ts"
import * as Stderr from "./Stderr.ts"

export const say = Effect.fnUntraced(function* (text: string, level: "error" | "info" = "error") {
  const message = inFlags(text)
  const isJson = (yield* LogFormat.Current) === "json"
  const now = yield* Clock.currentTimeMillis
  yield* Console.error(isJson ? Stderr.line(level, message, now) : `prefstream: ${printable(message)}`)
})

/** For a short unknown name, the parser may suggest a very different name. Such a suggestion is not printed. */
const isNear = (message: string, suggestions: string): boolean => {
  const name = /(?:flag: |subcommand ")-*([^\s"]+)/.exec(message)?.[1] ?? ""
  const [first = ""] = suggestions.split(" ")
  return editsBetween(name, first.replace(/^-+/, "")) <= maxEdits(name)
}

export const inOneLine = (message: string): string =>
  message
    .replace(/\n\s*/g, " ")
    .replace("Expected: Schema validation failed: Expected a", "Expected: a")
    .replace("Expected a string representing a finite number", "Expected: a number")
    .replace(/ *Did you mean [^?]*\? *(.+)$/, (_, nearest: string, __, whole: string) =>
      isNear(whole, nearest) ? `: did you mean ${nearest}?` : "",
    )
    .replace(/Expected: Path does not exist: .*/, "There is no such file or folder")

export type Rows = ReadonlyArray<readonly [name: string, value: string | false]>

export const table = (rows: Rows): ReadonlyArray<string> =>
  rows.flatMap(([name, value]) => (value === false ? [] : [`  ${name.padEnd(11)}${value}`]))

export const aligned = (rows: ReadonlyArray<ReadonlyArray<string>>, isText = (_column: number) => false) => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const cellIn = (text: string, column: number) =>
    isText(column) ? text.padEnd(widths[column]!) : text.padStart(widths[column]!)
  return rows.map((row) => row.map(cellIn).join("  ").trimEnd())
}

export const percent = (share: number): string => `${(100 * share).toFixed(1)}%`

export const rowsOf = (name: string, values: ReadonlyArray<string>): Rows =>
  values.map((value, i) => [i === 0 ? name : "", value])

export const present = (texts: ReadonlyArray<string | false>): ReadonlyArray<string> =>
  texts.filter((text) => text !== false)

export const printable = (text: string): string => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\uFFFD")

export const size = (bytes: number): string =>
  bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`

export const duration = (seconds: number): string =>
  seconds < 60
    ? `${seconds.toFixed(1)} s`
    : seconds < 3600
      ? `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`
      : seconds < 86_400
        ? `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
        : `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`

export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
