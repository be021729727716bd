/** Normalizes a name. Names that differ only in case, width, spacing, or invisible characters have the same key. */
export const nameKey = (name: string): string =>
  name
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replace(/\s+/gu, " ")
    .trim()
    .toLowerCase()
