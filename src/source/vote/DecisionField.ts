/** Reads a lead's decision: an object with `chosen_index`, or with members of `Decision` and no other members. */
import { Result, Schema, Struct } from "effect"
import { Decision } from "../../domain/Decision.ts"
import { describeValue, isObject } from "../../io/Values.ts"

const names = Struct.keys(Decision.fields)
const isMember = Schema.is(Schema.Literals(names))

const looksLikeDecision = (value: { readonly [member: string]: unknown }): boolean =>
  Object.hasOwn(value, "chosen_index") || (Object.keys(value).length > 0 && Object.keys(value).every(isMember))

const isDecision = Schema.is(Decision)

export const decode = (
  value: unknown,
  completions: number,
  path: string,
): Result.Result<Decision | undefined, string> => {
  if (!isObject(value) || !looksLikeDecision(value)) return Result.succeed(undefined)
  if (isDecision(value) && value.chosen_index < completions) return Result.succeed(Struct.pick(value, names))
  const expected = {
    chosen_index: `an index below ${completions}`,
    rationale: "text or null",
    by: "text or null",
    at: "a time as text or number, or null",
    is_service: "true or false (or no such member)",
  }
  const isWrong = (name: (typeof names)[number]) =>
    (name !== "is_service" || Object.hasOwn(value, name)) && !Schema.is(Decision.fields[name])(value[name])
  const wrongField = names.find(isWrong) ?? "chosen_index"
  return Result.fail(
    `${path}.${wrongField}: expected ${expected[wrongField]}, found ${describeValue(value[wrongField])}`,
  )
}
