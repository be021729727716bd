/**
 * One field of a CSV record (RFC 4180).
 *
 * Guarantees: a field that starts or ends with spaces is quoted, so readers that trim fields get the same text. Null
 * becomes an empty field. A list or an object becomes JSON.
 */
export const encode = (value: unknown): string => {
  const text = value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}
