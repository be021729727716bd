/** How many cases a test draws: fewer by default, so that `npm test` is quick; all with `ALL_CASES=1`. */
export const allCases = process.env["ALL_CASES"] !== undefined

export const cases = (usual: number, all: number): number => (allCases ? all : usual)
