/**
 * Text in a cell that a spreadsheet would run as a formula, such as `=HYPERLINK(…)`, marked as text by an apostrophe (OWASP, CSV
 * injection).
 *
 * Guarantees: `restore` gives back what `neutralize` was given. Numbers are not for it: a negative one is no formula.
 */
import { Record } from "effect"

/** The characters that a formula begins with, after any apostrophes: with those, a marked cell differs from one that had them. */
const isFormula = /^'*[=+\-@\t\r]/
const isNeutralized = /^'+[=+\-@\t\r]/

export const neutralize = (cell: string): string => (isFormula.test(cell) ? `'${cell}` : cell)

export const restore = (cell: string): string => (isNeutralized.test(cell) ? cell.slice(1) : cell)

/** A record with its texts neutralized. Lists and objects stay: they become JSON, which begins like no formula. */
export const neutralizeTexts = <A extends { readonly [column: string]: unknown }>(record: A): A =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts stay texts
  Record.map(record, (value: unknown) => (typeof value === "string" ? neutralize(value) : value)) as A
