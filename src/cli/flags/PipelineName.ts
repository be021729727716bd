/** This file imports nothing, because `bin.ts` loads it first. */
export const isPipelineFile = (file: string): boolean => /\.[cm]?[jt]s$/.test(file)
