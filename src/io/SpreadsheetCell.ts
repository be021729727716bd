/** Puts an apostrophe before texts that a spreadsheet would run as formulas (OWASP, CSV injection). */
import { Record } from "effect"

/** A formula that already has an apostrophe gets another one, so that `restore` returns the original text. */
const isFormula = /^'*[=+\-@\t\r]/
const isNeutralized = /^'+[=+\-@\t\r]/

export const neutralize = (cell: string): string => (isFormula.test(cell) ? `'${cell}` : cell)

export const restore = (cell: string): string => (isNeutralized.test(cell) ? cell.slice(1) : cell)

export const neutralizeTexts = <A extends { readonly [column: string]: unknown }>(record: A): A =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- neutralize returns a string for each string
  Record.map(record, (value: unknown) => (typeof value === "string" ? neutralize(value) : value)) as A
