/** Checks whether values have the types that a custom format's `features` declare. */
import { describeValue, isObject } from "../../io/Values.ts"
import type { Feature } from "../file/Features.ts"

const isOfType: { readonly [Type in Feature & string]: (value: unknown) => boolean } = {
  string: (value) => typeof value === "string",
  bool: (value) => typeof value === "boolean",
  int32: (value) => typeof value === "number" && (value | 0) === value,
  float64: (value) => typeof value === "number",
  null: () => false,
}

export const misfit = (
  value: unknown,
  feature: Feature | undefined,
  option: string,
): { readonly option: string; readonly expected: string; readonly found: string } | undefined => {
  if (value === undefined || value === null) return undefined
  const mismatch = (expected: string) => ({ option, expected, found: describeValue(value) })
  if (feature === undefined) return mismatch("a column or member declared in the format's `features`")
  if (typeof feature === "string")
    return isOfType[feature](value) ? undefined : mismatch(`${feature} (as declared in \`features\`)`)
  const isList = "list" in feature
  if (isList ? !Array.isArray(value) : !isObject(value))
    return mismatch(`${isList ? "a list" : "an object"} (as declared in \`features\`)`)
  for (const [name, member] of Object.entries(value)) {
    const type = isList ? feature.list : Object.hasOwn(feature.struct, name) ? feature.struct[name] : undefined
    const problem = misfit(member, type, isList ? `${option}[${name}]` : `${option}.${name}`)
    if (problem !== undefined) return problem
  }
  return undefined
}
