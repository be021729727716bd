/** Whether an argument names a program rather than data. Loads nothing: `bin.ts` asks it before anything else. */
export const isPipelineFile = (file: string): boolean => /\.[cm]?[jt]s$/.test(file)
