/**
 * One field of a CSV record (RFC 4180).
 *
 * Guarantees: readers that trim fields get the same text, since spaces at the ends are quoted. Null is an empty field, and what
 * is neither text, number nor boolean is JSON.
 */
export const encode = (value: unknown): string => {
  const text = value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}
