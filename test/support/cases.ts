/** How many cases a test draws: fewer by default, so that `npm test` is quick; all with `CI` or `ALL_CASES` set. */
export const allCases = process.env["CI"] !== undefined || process.env["ALL_CASES"] !== undefined

export const cases = (usual: number, all: number): number => (allCases ? all : usual)
