/** This file imports nothing, because `bin.ts` loads it before checking that Node is new enough for other files. */
export const isPipelineFile = (file: string): boolean => /\.[cm]?[jt]s$/.test(file)
