/** Files whose records are votes, given to a command that has items judged. */
import * as Sample from "../detect/Sample.ts"
import * as KnownNames from "../record/KnownNames.ts"
import type { Row } from "../record/Row.ts"
import * as ToolExports from "./ToolExports.ts"
import { expertColumn, voteNames } from "./VoteNames.ts"

/**
 * One line that names the command for votes, if the records have them: an export of a tool, a choice beside its expert, a
 * column for each expert, or a choice that is not read as gold.
 */
export const of = (rows: ReadonlyArray<Row>, gold: string | undefined): string | undefined => {
  const sample = Sample.of(rows)
  const has = (names: ReadonlyArray<string>) =>
    names.flatMap((name) => sample.members.filter(({ plainName, values }) => plainName === name && values.length > 0))
  if (KnownNames.datasetMembers.every((name) => sample.members.some((member) => member.name === name))) return undefined
  const tool = ToolExports.recognize(rows)
  const [choice] = has(voteNames.choice)
  const experts = sample.members.filter(({ plainName }) => expertColumn.test(plainName))
  const isVote = choice !== undefined && (choice.path !== gold || has(voteNames.expert).length > 0)
  if (tool === undefined && !isVote && experts.length < 2) return undefined
  const where =
    tool === undefined ? `votes at ${JSON.stringify(choice?.name ?? experts[0]?.name)}` : `an export of ${tool.name}`
  return `${where}: prefstream import reads votes that exist; a run has the items judged again`
}
