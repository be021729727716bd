/**
 * Numbers, tables and messages as a person reads them.
 *
 * Guarantees: `say` writes to stderr alone; printable text has no control characters that a terminal obeys.
 */
import { Console } from "effect"

/** Tells a person what came of a command, or what to do about it. */
export const say = (message: string) => Console.error(`prefstream: ${printable(message)}`)

export type Rows = ReadonlyArray<readonly [name: string, value: string]>

export const table = (rows: Rows): ReadonlyArray<string> => rows.map(([name, value]) => `  ${name.padEnd(11)}${value}`)

export const number = (n: number): string => n.toLocaleString("en-US")

export const count = (n: number, noun: string): string => `${number(n)} ${noun}${n === 1 ? "" : "s"}`

/** Text that a terminal does not take for commands: control characters but tab and line end are shown as �. */
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

/** As a shell takes it for one word. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
