/**
 * Reads the assessment from a vote: the expert's answers to the rubric. A CSV row without the columns `all_bad` and
 * `aspects` has no assessment. A JSON vote without these members has an assessment, but no `details`.
 */
import { Option, Predicate, Record, Schema } from "effect"
import * as Assessment from "../../domain/Assessment.ts"
import * as ExpertKind from "../../domain/ExpertKind.ts"
import type { ImportedVote } from "../../domain/Vote.ts"
import { isObject } from "../../io/Values.ts"
import * as Field from "../record/Field.ts"

const isValue: { readonly [name: string]: (cell: unknown) => boolean } = Record.map(
  Assessment.fields,
  (field: Schema.Top) => Schema.is(field),
)

const fromCell = (cell: unknown, name: string): unknown => {
  if (isValue[name]!(cell)) return cell
  const value = Predicate.isString(cell) ? Option.getOrUndefined(parseScalar(cell)) : undefined
  return value !== undefined && isValue[name]!(value) ? value : Field.fromText(cell)
}

const parseScalar = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Union([Schema.Boolean, Schema.Finite])))

const decodeDetails = Schema.decodeUnknownOption(Schema.Record(Schema.String, Schema.Json))

const names = Assessment.names.filter((name) => name !== "strength")

export const read = (
  vote: unknown,
  choice: number,
  completions: number,
  isTextual: true | undefined,
): Omit<Assessment.Assessment, "strength"> & Pick<ImportedVote, "details" | "kind"> => {
  if (!isObject(vote)) return {}
  const isVoteRow = Object.hasOwn(vote, "all_bad") && Object.hasOwn(vote, "aspects")
  const kind = isVoteRow || ExpertKind.isBuiltIn(vote["kind"]) ? ExpertKind.of(vote["kind"]) : null
  if (isTextual === true && !isVoteRow) return kind === null ? {} : { kind }
  const cells = Object.fromEntries(
    names.map((name) => [name, isTextual === true ? fromCell(vote[name], name) : vote[name]]),
  )
  const details = Option.getOrUndefined(isVoteRow ? decodeDetails(Field.fromText(vote["details"])) : Option.none())
  return {
    ...(kind !== null && { kind }),
    ...(details !== undefined && { details }),
    ...Assessment.read(cells, choice, completions),
  }
}
