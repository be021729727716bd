/** Parts of a vote that are text, such as an expert or a rationale. */
import { isEmpty, isObject } from "../../io/Values.ts"

/** Of an object, its id or name; undefined where nothing can be read as text. */
export const readable = (given: unknown): unknown => {
  let value = given
  while (isObject(value)) value = value["id"] ?? value["name"] ?? value["username"]
  return isEmpty(value) ? undefined : value
}

export const text = (given: unknown): string | undefined => {
  const value = readable(given)
  return value === undefined || typeof value === "string" ? value : JSON.stringify(value)
}
