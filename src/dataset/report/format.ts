/** Formats for the report. `share` shows 99.99% as >99.9%, and 0.01% as <0.1%. No text is cut within a character. */

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 })

export const count = (n: number): string => whole.format(n).replace("-", "−")

export const short = (n: number): string => (Math.abs(n) < 10_000 ? count(n) : compact.format(n).replace("-", "−"))

export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`

export const share = (n: number): string => {
  const rounded = (100 * n).toFixed(1)
  if (rounded === "100.0") return n < 1 ? ">\u00A099.9%" : "100%"
  if (rounded === "0.0") return n > 0 ? "<\u00A00.1%" : "0%"
  return `${rounded.replace("-", "−")}%`
}

export const shortShare = (n: number): string => `${Number((100 * n).toFixed(2))}%`

export const shareOf = (part: number, of: number): string => (of > 0 ? share(part / of) : "–")

export const decimal = (n: number, digits = 2): string => {
  const text = n.toFixed(digits)
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−")
}

export const length = (n: number | null): string => (n === null ? "–" : count(Math.round(n)))

const units: ReadonlyArray<readonly [unit: string, seconds: number]> = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
]

export const seconds = (total: number | null): string => {
  if (total === null) return "–"
  if (total < 10) return `${Number(total.toFixed(1))} s`
  const at = units.findIndex(([, size]) => total >= size)
  const [unit, size] = units[at] ?? ["s", 1]
  const [next, small] = units[at + 1] ?? ["", size]
  const parts = Math.round(total / small)
  // Rounding turns 3,599.6 s into 3,600 s. The recursive call formats this as 1 h, not as 60 min.
  const [, larger] = units[at - 1] ?? ["", Number.POSITIVE_INFINITY]
  if (parts * small >= larger) return seconds(parts * small)
  const per = size / small
  const rest = parts % per
  const first = `${count(Math.floor(parts / per))} ${unit}`
  return rest === 0 ? first : `${first} ${rest} ${next}`
}

export const excerpt = (
  text: string,
  chars: number,
  lines = Number.POSITIVE_INFINITY,
): { readonly shown: string; readonly cut: boolean } => {
  let end = 0
  for (let line = 0; line < lines && end !== -1 && end <= chars; line++) {
    end = text.indexOf("\n", line === 0 ? 0 : end + 1)
  }
  const byLines = end === -1 ? text.length : end
  if (byLines === text.length && text.length <= chars * 1.2) return { shown: text, cut: false }
  let at = Math.min(byLines, chars)
  const last = text.charCodeAt(at - 1)
  if (last >= 0xd800 && last <= 0xdbff) at -= 1
  return { shown: text.slice(0, at).trimEnd(), cut: true }
}

export const characters = (text: string): number => {
  let n = 0
  for (let i = 0; i < text.length; i++, n++) if ((text.codePointAt(i) ?? 0) > 0xffff) i++
  return n
}

export const name = (text: string, chars = 60): string => {
  const { cut, shown } = excerpt(text, chars, 1)
  return cut ? `${shown} …` : shown
}
