/** Writes rows as JSON. The float 1 becomes `1.0`. From `1`, `load_dataset` would infer integers, and refuse 0.5. */
import { type Cell, type EncodedRow, Text } from "./EncodedRow.ts"
import type { Features } from "./Features.ts"

export const parts = (features: Features): ((row: EncodedRow, emit: (part: string | Uint8Array) => void) => void) => {
  const floats = new Set(Object.keys(features).filter((column) => features[column] === "float64"))
  const keys = new Map(Object.keys(features).map((column) => [column, `${JSON.stringify(column)}:`]))
  return ({ columns }, emit) => {
    let json = ""
    let separator = "{"
    for (const column in columns) {
      const value = columns[column]
      if (value === undefined) continue
      json += `${separator}${keys.get(column) ?? `${JSON.stringify(column)}:`}`
      separator = ","
      if (value instanceof Text && value.jsonBytes !== undefined) {
        emit(json)
        emit(value.jsonBytes)
        json = ""
      } else json += `${jsonOf(value)}${floats.has(column) && Number.isSafeInteger(value) ? ".0" : ""}`
    }
    emit(`${separator === "{" ? "{" : json}}`)
  }
}

export const make = (features: Features): ((row: EncodedRow) => string) => {
  const partsOf = parts(features)
  return (row) => {
    let line = ""
    partsOf(row, (part) => {
      line += typeof part === "string" ? part : new TextDecoder().decode(part)
    })
    return line
  }
}

const jsonOf = (value: Cell): string => {
  if (value instanceof Text) return value.json
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${jsonOf(member)}`)
  return `{${members.join(",")}}`
}
