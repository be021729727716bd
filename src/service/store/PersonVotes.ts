/**
 * Votes that people give, take back, and correct, within one write. A vote can change only while its task is open. When
 * a person corrects a vote, the earlier vote moves to `replaced_vote`, and the new vote gets the time of the earlier
 * one. A correction that differs only in `seconds` changes nothing.
 */
import { Effect, Equal, type Result, Struct } from "effect"
import * as Guidelines from "../../api/Guidelines.ts"
import { MalformedRequest } from "../../api/Problems.ts"
import type { Vote } from "../../domain/Vote.ts"
import { Database } from "../database/Database.ts"
import { promptIndexOf, seqOf } from "../database/TaskTables.ts"
import type { Draft, Submission } from "../pageApi/AnnotateApi.ts"
import { AnswerRequired } from "../pageApi/WebProblems.ts"
import * as Assessments from "./Assessments.ts"
import * as Places from "./Places.ts"
import { dayOf, type NewVote, storableVote, type StoredVote, type Task, type VoteBody, type Voting } from "./Voting.ts"

export interface GivenVote extends Omit<StoredVote, "expert_id" | "name" | "expert_kind"> {
  readonly shown_at: number
  readonly given_at: number
  readonly correct: number | null
}

interface Subject {
  readonly itemId: number
  readonly expertId: string
  readonly expertNo: number
  readonly order: ReadonlyArray<number>
  readonly shownAt: number
  readonly isRepeated: boolean
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `Voting.give`
export const bodyOf = ({ body }: GivenVote) => JSON.parse(body) as VoteBody

export const draftOf = (vote: GivenVote): Draft => {
  const { order, ranking, rationale = "", repeated: _, seconds, ...members } = bodyOf(vote)
  const best = order.indexOf(vote.choice)
  const assessment = Assessments.toPlaces(members, order, best)
  return {
    mode: ranking === undefined ? "best" : "rank",
    best,
    ranking: Places.toPlaces(ranking ?? [], order),
    rationale,
    seconds,
    ...(assessment !== undefined && { assessment }),
  }
}

export const make = Effect.fnUntraced(function* (voting: Voting) {
  const { sql } = yield* Database

  const latest = (expertNo: number, limit: number) =>
    sql<GivenVote>`SELECT n, item_id, expert_no, choice, body, shown_at, given_at, correct
      FROM vote INDEXED BY vote_of_expert WHERE expert_no = ${expertNo} AND shown_at IS NOT NULL
      ORDER BY n DESC LIMIT ${limit}`

  /** Undefined if no change is allowed: the task ended or is paused, the item is decided, or the vote is published. */
  const openTaskOf = Effect.fnUntraced(function* (vote: { readonly item_id: number; readonly expert_no: number }) {
    const { expert_no, item_id } = vote
    const task = yield* voting.openTask(seqOf(item_id))
    if (task === undefined) return undefined
    const published = `$.results[${promptIndexOf(item_id)}].annotations.votes`
    const closed = yield* sql`SELECT 1 FROM decision WHERE item_id = ${item_id}
      UNION ALL SELECT 1 FROM item JOIN lane USING (lane) WHERE item_id = ${item_id} AND paused = 1
      UNION ALL SELECT 1 FROM task_result JOIN json_each(answer, ${published}) WHERE seq = ${task.seq}
        AND value ->> '$.expert' = (SELECT expert_id FROM expert WHERE expert_no = ${expert_no})`
    return closed.length > 0 ? undefined : task
  })

  /** Call this before the first change in a `Database.write`, because a refusal does not roll back the transaction. */
  const voteOf = Effect.fnUntraced(function* (task: Task, subject: Subject, submission: Submission, now: number) {
    const { expertId, expertNo, isRepeated, itemId, order, shownAt } = subject
    const choice = yield* orMalformed(Places.toIndices(submission, order))
    const { prompts } = yield* voting.requests.of(task.seq)
    const guidelines = yield* voting.guidelines.current(task)
    const prompt = prompts[promptIndexOf(itemId)]!
    const { assessment, guidelines_version = guidelines.version, rationale, seconds } = submission
    const rubric = Guidelines.rubricOf(guidelines.sent)
    const members = yield* orMalformed(
      Assessments.toMembers(assessment, rubric, prompt.completions, { ...choice, order }),
    )
    const reason = rationale.trim() === "" ? {} : { rationale }
    const missing = Assessments.missingFrom({ ...members, ...reason }, rubric)
    if (missing !== undefined) return yield* new AnswerRequired(missing)
    const vote = storableVote({
      expert: expertId,
      kind: "person",
      ...choice,
      order,
      seconds: Math.round(Math.min(seconds, (now - shownAt) / 1000) * 1000) / 1000,
      ...members,
      ...reason,
      ...(isRepeated && { repeated: true }),
      ...(guidelines.version > 1 && {
        guidelines_version: Math.min(Math.max(guidelines_version, 1), guidelines.version),
      }),
    })
    return { itemId, expertNo, prompt, vote, shownAt } satisfies NewVote
  })

  const give = Effect.fnUntraced(function* (task: Task, vote: NewVote, now: number) {
    const { itemId } = vote
    const [item] = yield* sql<{ isDone: number }>`UPDATE item SET votes = votes + 1
      WHERE item_id = ${itemId} RETURNING votes = ${task.votes_required} + extra_votes AS "isDone"`
    return yield* voting.give(task, [vote], item!.isDone === 1 ? [itemId] : [], now)
  })

  const takeBack = Effect.fnUntraced(function* ({ correct, expert_no, given_at, item_id, n }: GivenVote, task: Task) {
    yield* voting.uncompare(item_id)
    yield* sql`DELETE FROM vote WHERE n = ${n}`
    const [item] = yield* sql<{ wasDone: number }>`UPDATE item SET votes = votes - 1
      WHERE item_id = ${item_id} RETURNING votes + 1 = ${task.votes_required} + extra_votes AS "wasDone"`
    yield* sql`UPDATE task SET votes_given = votes_given - 1, prompts_done = prompts_done - ${item!.wasDone},
      completes_at = NULL WHERE seq = ${task.seq}`
    yield* sql`UPDATE expert SET judged = judged - 1,
      gold_judged = gold_judged - ${correct === null ? 0 : 1}, gold_right = gold_right - ${correct ?? 0},
      judged_on_day = judged_on_day - CASE day WHEN ${dayOf(given_at)} THEN 1 ELSE 0 END
      WHERE expert_no = ${expert_no}`
  })

  const replace = Effect.fnUntraced(function* (
    vote: GivenVote,
    task: Task,
    expertId: string,
    submission: Submission,
    now: number,
  ) {
    const { order, repeated: isRepeated = false } = bodyOf(vote)
    const { expert_no: expertNo, item_id: itemId, shown_at: shownAt } = vote
    const subject = { expertId, expertNo, itemId, order, shownAt, isRepeated }
    const corrected = yield* voteOf(task, subject, submission, now)
    const { expert: _expert, kind: _kind, ...entered } = corrected.vote
    if (Equal.equals(withoutSeconds(entered), withoutSeconds({ ...bodyOf(vote), choice: vote.choice }))) return false
    yield* sql`INSERT INTO replaced_vote ${sql.insert({ ...vote, replaced_at: now })}`
    yield* takeBack(vote, task)
    return yield* give((yield* voting.openTask(task.seq))!, { ...corrected, givenAt: vote.given_at }, now)
  })

  return { latest, openTaskOf, voteOf, give, takeBack, replace }
})

const withoutSeconds = (vote: Omit<Vote, "expert" | "kind">) => Struct.omit(vote, ["seconds"])

const orMalformed = <A>(result: Result.Result<A, string>) =>
  Effect.mapError(Effect.fromResult(result), (detail) => new MalformedRequest({ detail }))
