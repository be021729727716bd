/**
 * Text in a cell that a spreadsheet would run as a formula, such as `=HYPERLINK(…)`, marked as text by an apostrophe (OWASP, CSV
 * injection).
 *
 * Guarantees: `restore` gives back what `neutralize` was given. Numbers are not for it: a negative one is no formula.
 */

/** The characters that a formula begins with, after any apostrophes: with those, a marked cell differs from one that had them. */
const isFormula = /^'*[=+\-@\t\r]/
const isNeutralized = /^'+[=+\-@\t\r]/

export const neutralize = (cell: string): string => (isFormula.test(cell) ? `'${cell}` : cell)

export const restore = (cell: string): string => (isNeutralized.test(cell) ? cell.slice(1) : cell)
