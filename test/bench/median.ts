/** The middle one of an odd number of values, the upper of the middle two of an even one. */
export const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
