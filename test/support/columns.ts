/** One property of each row. */
export const column = <A, K extends keyof A>(rows: ReadonlyArray<A>, key: K): Array<A[K]> => rows.map((row) => row[key])

/** Some properties of each row, in the order of the keys. */
export const columns = <A, K extends keyof A>(rows: ReadonlyArray<A>, ...keys: ReadonlyArray<K>): Array<Array<A[K]>> =>
  rows.map((row) => keys.map((key) => row[key]))
