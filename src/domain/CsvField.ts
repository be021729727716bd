/**
 * One field of a CSV record (RFC 4180). Null becomes an empty field; a list or an object becomes JSON. A field that
 * starts or ends with spaces is quoted, because some readers trim fields.
 */
export const encode = (value: unknown): string => {
  const text = value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}
