/** Reads text parts of a vote, such as an expert or a rationale. */
import { isEmpty, isObject } from "../../io/Values.ts"

export const readableValue = (rawValue: unknown): unknown => {
  let value = rawValue
  while (isObject(value)) value = value["id"] ?? value["name"] ?? value["username"]
  return isEmpty(value) ? undefined : value
}

export const text = (rawValue: unknown): string | undefined => {
  const value = readableValue(rawValue)
  return value === undefined || typeof value === "string" ? value : JSON.stringify(value)
}
