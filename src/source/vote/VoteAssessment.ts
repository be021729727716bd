/**
 * Reads the assessment of a vote besides its strength: `all_bad`, `edited`, and `aspects`, as `VoteRow` has them, and
 * the expert's `kind`. Values of another shape are left out. In other tables, `kind` and `edited` may mean something
 * else. The kind, and everything in text cells, is therefore only read beside columns `all_bad` and `aspects`.
 */
import * as Assessment from "../../domain/Assessment.ts"
import * as ExpertKind from "../../domain/ExpertKind.ts"
import type { ImportedVote } from "../../domain/Vote.ts"
import { isObject } from "../../io/Values.ts"
import * as Field from "../record/Field.ts"

const booleans = new Map<unknown, boolean>([
  ["true", true],
  ["false", false],
])

export const read = (
  vote: unknown,
  choice: number,
  completions: number,
  isTextual: true | undefined,
): Omit<Assessment.Assessment, "strength"> & Pick<ImportedVote, "kind"> => {
  if (!isObject(vote)) return {}
  const { all_bad, aspects, edited } = vote
  const isVoteRow = Object.hasOwn(vote, "all_bad") && Object.hasOwn(vote, "aspects")
  if (isTextual === true && !isVoteRow) return {}
  const assessment =
    isTextual === true
      ? { all_bad: booleans.get(all_bad), aspects: Field.fromText(aspects), edited }
      : { all_bad, aspects, edited }
  const kind = isVoteRow ? ExpertKind.of(vote["kind"]) : null
  return { ...(kind !== null && { kind }), ...Assessment.read(assessment, choice, completions) }
}
