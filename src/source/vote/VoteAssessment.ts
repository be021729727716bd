/**
 * Reads `all_bad`, `edited`, `aspects`, and the expert's `kind` of a vote, as `VoteRow` has them. Other tables may use
 * these names otherwise, so the kind, and text cells, are read only beside columns `all_bad` and `aspects`.
 */
import { Record, Schema } from "effect"
import * as Assessment from "../../domain/Assessment.ts"
import * as ExpertKind from "../../domain/ExpertKind.ts"
import type { ImportedVote } from "../../domain/Vote.ts"
import { isObject } from "../../io/Values.ts"
import * as Field from "../record/Field.ts"

const isValue: { readonly [name: string]: (cell: unknown) => boolean } = Record.map(
  Assessment.fields,
  (field: Schema.Top) => Schema.is(field),
)

const fromCell = (cell: unknown, name: string): unknown =>
  isValue[name]!(cell) ? cell : cell === "true" || cell === "false" ? cell === "true" : Field.fromText(cell)

const names = Assessment.names.filter((name) => name !== "strength")

export const read = (
  vote: unknown,
  choice: number,
  completions: number,
  isTextual: true | undefined,
): Omit<Assessment.Assessment, "strength"> & Pick<ImportedVote, "kind"> => {
  if (!isObject(vote)) return {}
  const isVoteRow = Object.hasOwn(vote, "all_bad") && Object.hasOwn(vote, "aspects")
  if (isTextual === true && !isVoteRow) return {}
  const cells = Object.fromEntries(
    names.map((name) => [name, isTextual === true ? fromCell(vote[name], name) : vote[name]]),
  )
  const kind = isVoteRow ? ExpertKind.of(vote["kind"]) : null
  return { ...(kind !== null && { kind }), ...Assessment.read(cells, choice, completions) }
}
