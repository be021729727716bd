/**
 * A lead's decision in a record of votes, or the service's, as `export-votes` writes it.
 *
 * Guarantees: what is meant as a decision is one for the record's completions, or fails with the field. It is meant as one
 * if it has a `chosen_index`, or no members but those of decisions; anything else under this name is nothing.
 */
import { Result, Schema, Struct } from "effect"
import { Decision } from "../../domain/Decision.ts"
import { describeValue, isObject } from "../../io/Values.ts"

const names = Struct.keys(Decision.fields)
const isMember = Schema.is(Schema.Literals(names))

const isMeant = (value: { readonly [member: string]: unknown }): boolean =>
  Object.hasOwn(value, "chosen_index") || (Object.keys(value).length > 0 && Object.keys(value).every(isMember))

const isDecision = Schema.is(Decision)

/** The failure is the reason, and names `path`. */
export const decode = (
  value: unknown,
  completions: number,
  path: string,
): Result.Result<Decision | undefined, string> => {
  if (!isObject(value) || !isMeant(value)) return Result.succeed(undefined)
  if (isDecision(value) && value.chosen_index < completions) return Result.succeed(Struct.pick(value, names))
  const expected = {
    chosen_index: `an index below ${completions}`,
    rationale: "text or null",
    by: "text or null",
    at: "a time as text or number, or null",
    is_service: "true, false, or nothing",
  }
  const isWrong = (name: (typeof names)[number]) =>
    (name !== "is_service" || Object.hasOwn(value, name)) && !Schema.is(Decision.fields[name])(value[name])
  const wrong = names.find(isWrong) ?? "chosen_index"
  return Result.fail(`${path}.${wrong}: expected ${expected[wrong]}, found ${describeValue(value[wrong])}`)
}
