/** Formats for the dashboard. No share is rounded to 0 % or 100 %. Months are words, so that dates are unambiguous. */
import { withoutData } from "../shared/images.ts"

const number = new Intl.NumberFormat("en")

export const count = (n: number): string => number.format(n)

export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`

/** Formats the share in percent. Returns null if `of` is not positive. */
export const percent = (part: number, of: number): string | null => {
  if (of <= 0) return null
  const exact = (100 * part) / of
  const whole = Math.round(exact)
  if (whole === 100 && part < of) return `${Math.min(99.9, Math.floor(exact * 10) / 10)} %`
  if (whole === 0 && part > 0) return exact < 0.1 ? "< 0.1 %" : `${exact.toFixed(1)} %`
  return `${whole} %`
}

const units: ReadonlyArray<readonly [unit: Intl.RelativeTimeFormatUnit, millis: number]> = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
]
const relativeTime = new Intl.RelativeTimeFormat("en", { numeric: "always" })

const dayFormat = (timeZone: string | undefined) =>
  new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", ...(timeZone && { timeZone }) })

const exactFormat = (timeZone: string | undefined) =>
  new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
    ...(timeZone && { timeZone }),
  })

export const exact = (at: number, timeZone?: string): string => exactFormat(timeZone).format(at)

/** Formats a time as `5 minutes ago` or `in 2 hours`, and as a date if it is 30 days or more away. */
export const relative = (at: number, now: number, timeZone?: string): string => {
  const distance = at - now
  const size = Math.abs(distance)
  if (size >= 30 * 86_400_000) return dayFormat(timeZone).format(at)
  // The clocks of the service and the browser may differ by some seconds, so short distances are not shown.
  if (size < 5000) return distance > 0 ? "now" : "just now"
  const [unit, millis] = units.find(([, millis]) => size >= millis) ?? ["second", 1000]
  return relativeTime.format(Math.trunc(distance / millis), unit)
}

export const day = (at: number): string => dayFormat("UTC").format(at)

export const seconds = (total: number): string => {
  if (total < 10) return `${number.format(Math.round(total * 10) / 10)} s`
  const whole = Math.round(total)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`
  return minutes % 60 === 0 ? `${count(minutes / 60)} h` : `${count(Math.floor(minutes / 60))} h ${minutes % 60} min`
}

export const millis = (n: number): string =>
  n < 1000 ? `${count(n)} ms` : `${number.format(Math.round(n / 100) / 10)} s`

/** Names a completion by a letter. A number could be mistaken for a position on the annotation page. */
export const letter = (index: number): string => {
  const rest = Math.floor(index / 26)
  return (rest === 0 ? "" : letter(rest - 1)) + String.fromCodePoint(65 + (index % 26))
}

export const excerpt = (prompt: string, length: number): string => {
  const text = withoutData(prompt).trim()
  if (text.length <= length) return text === "" ? "(empty)" : text
  return `${text.slice(0, length).toWellFormed().trimEnd()}…`
}

export const ranking = (groups: ReadonlyArray<ReadonlyArray<number>>): string =>
  groups.map((group) => group.map(letter).join(" = ")).join(" > ")

export const order = (indices: ReadonlyArray<number>): string => indices.map(letter).join(" ")

export const factWords = (name: string, value: unknown): string =>
  `${name.replaceAll("_", " ")}: ${Array.isArray(value) ? value.join(", ") : String(value)}`
