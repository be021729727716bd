/** One field of a CSV record (RFC 4180). Spaces at an end are put in quotes, because some readers trim fields. */
export const encode = (value: unknown): string => {
  const text = value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}
