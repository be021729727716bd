/** Guesses whether bytes are Windows-1252. The guess only decides whether an error message suggests this encoding. */

const windows1252 = new TextDecoder("windows-1252")

export const countTextRuns = (bytes: Uint8Array): number => {
  let places = 0
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at]! < 0x80) continue
    let end = at + 1
    while (end < bytes.length && bytes[end]! >= 0x80) end++
    const isUtf8 = bytes[at]! >= 0xc2 && bytes[at]! < 0xf5 && end > at + 1 && bytes[at + 1]! < 0xc0
    // Corrupt data often contains `ÿ`, but texts in Windows-1252 rarely do. So `ÿ` does not count as text.
    const isText = /^(?:(?!ÿ)[\p{L}\p{P}\p{S}\p{N}\xa0])+$/u.test(windows1252.decode(bytes.subarray(at, end)))
    if (isUtf8 || end - at > 3 || !isText) return 0
    places++
    at = end
  }
  return places
}
