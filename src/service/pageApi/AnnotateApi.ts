/**
 * The private `HttpApi` of the annotation page. Requests name a completion by its position in the expert's own random
 * order, so the page does not reveal the models.
 */
import { Context, Schema, Struct } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { BodyTooLarge, Forbidden, MalformedRequest, ServiceFailure } from "../../api/Problems.ts"
import * as VoteAssessment from "../../domain/Assessment.ts"
import { FlagKind } from "../../domain/Flag.ts"
import { Message } from "../../domain/Message.ts"
import { Rubric } from "../../domain/Rubric.ts"
import { maxLength } from "./PageConstants.ts"
import { AnswerRequired, Conflict, NotSignedIn } from "./WebProblems.ts"

export class SignedInExpert extends Context.Service<
  SignedInExpert,
  { readonly expertId: string; readonly name: string }
>()("prefstream/service/SignedInExpert") {}

const error = [
  AnswerRequired,
  BodyTooLarge,
  Conflict,
  Forbidden,
  MalformedRequest,
  NotSignedIn,
  ServiceFailure,
] as const

/** Requires the expert's session cookie: HttpOnly, SameSite=Strict, random, and stored only as a hash. */
export class ExpertSession extends HttpApiMiddleware.Service<ExpertSession, { provides: SignedInExpert }>()(
  "prefstream/service/ExpertSession",
  {
    security: { cookie: HttpApiSecurity.apiKey({ key: "prefstream_expert", in: "cookie" }) },
    error,
  },
) {}

/** A completion's zero-based position in the order in which the expert sees the completions. */
const Place = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const Flags = Schema.Array(Schema.String.check(Schema.isMaxLength(80))).check(Schema.isMaxLength(20))
const EditedText = Schema.String.check(Schema.isMaxLength(maxLength.editedCompletion))
const Step = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))

/** Members that are not written out here, such as `strength`, have the same type as in a vote, or are null. */
const Assessment = Schema.Struct({
  ...Struct.map(
    Struct.map(Struct.omit(VoteAssessment.fields, ["all_bad", "aspects", "edited"]), Schema.NullOr),
    Schema.optionalKey,
  ),
  all_bad: Schema.Boolean,
  flags: Flags,
  /** The ratings by aspect. Each aspect has one rating per completion, in the order in which the expert sees them. */
  aspects: Schema.Record(Schema.String.check(Schema.isMaxLength(80)), Schema.Array(Schema.NullOr(Step))),
})

/** An expert's unsubmitted input for an item. `ranking` contains groups of positions, best first. */
export const Draft = Schema.Struct({
  mode: Schema.Literals(["best", "rank"]),
  best: Schema.NullOr(Place),
  ranking: Schema.Array(Schema.Array(Place)),
  rationale: Schema.String.check(Schema.isMaxLength(maxLength.rationale)),
  seconds: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)),
  /** The expert's answers to the rubric. `edit` is the completion that the expert edited last. */
  assessment: Schema.optionalKey(
    Schema.Struct({ ...Assessment.fields, edit: Schema.NullOr(Schema.Struct({ place: Place, text: EditedText })) }),
  ),
})
export type Draft = typeof Draft.Type

export const HeldItem = Schema.Struct({
  item_id: Schema.Int,
  guidelines: Schema.NullOr(Schema.String),
  guidelines_version: Schema.Int,
  /** The older guidelines that this expert saw last: version and text. Null if the page has no change to announce. */
  guidelines_change: Schema.NullOr(Schema.Struct({ from: Schema.Int, before: Schema.String })),
  rubric: Rubric,
  prompt: Schema.String,
  /** The messages of the prompt. Null if the prompt is a text and not a conversation. */
  turns: Schema.NullOr(Schema.Array(Message)),
  completions: Schema.Array(Schema.String),
  completion_turns: Schema.Array(Schema.NullOr(Schema.Array(Message))),
  draft: Schema.NullOr(Draft),
  undone: Schema.Boolean,
  /** The time of the vote that the expert corrects by a submission. Null if a submission adds a new vote. */
  corrects: Schema.NullOr(Schema.Int),
  /** The time (epoch milliseconds) when the item returns to the queue. Each saved draft extends the time. */
  held_until: Schema.Int,
  /** Whether `task` is the expert's qualification. An item of a qualification cannot be skipped or flagged. */
  qualification: Schema.Boolean,
  task: Schema.Struct({
    task_id: Schema.String,
    prompts: Schema.Int,
    judged: Schema.Int,
    number: Schema.Int,
  }),
})
export type HeldItem = typeof HeldItem.Type

export const Progress = Schema.Struct({
  judged: Schema.Int,
  /** Items judged since midnight, UTC. */
  judged_today: Schema.Int,
  /** The number of votes that people can still give on open tasks. */
  needed: Schema.Int,
  undoable: Schema.Boolean,
  /** Why this expert gets no work, as a plain sentence. Null if the expert gets work. */
  stopped: Schema.NullOr(Schema.String),
})
export type Progress = typeof Progress.Type

export const Work = Schema.Struct({ item: Schema.NullOr(HeldItem), progress: Progress })
export type Work = typeof Work.Type

export const GivenJudgment = Schema.Struct({
  item_id: Schema.Int,
  given_at: Schema.Int,
  prompt: Schema.String,
  /** Groups of positions, best first: `[[1]]` if the expert chose the completion at position 1 and ranked none. */
  ranking: Schema.Array(Schema.Array(Place)),
  is_open: Schema.Boolean,
})
export type GivenJudgment = typeof GivenJudgment.Type

const Reason = Schema.String.check(Schema.isMaxLength(maxLength.comment))

export const Flagging = Schema.Struct({ kind: FlagKind, comment: Reason })
export type Flagging = typeof Flagging.Type

export const Submission = Schema.Struct({
  /** The position of the best completion. If null, the lowest position in the first group of `ranking` is the best. */
  best: Schema.NullOr(Place),
  /** The positions of all completions in groups, best first. Null if the expert did not rank them. */
  ranking: Schema.NullOr(Schema.Array(Schema.NonEmptyArray(Place))),
  rationale: Schema.String.check(Schema.isMaxLength(maxLength.rationale)),
  seconds: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)),
  guidelines_version: Schema.optionalKey(Schema.Int),
  assessment: Schema.optionalKey(Schema.Struct({ ...Assessment.fields, edited: Schema.NullOr(EditedText) })),
})
export type Submission = typeof Submission.Type

const params = { item_id: Schema.Int.pipe(Schema.encodeTo(Schema.FiniteFromString)) }

const join = HttpApiEndpoint.post("join", "/join", {
  payload: Schema.Struct({ code: Schema.String.check(Schema.isMaxLength(maxLength.code)) }),
  success: Schema.Struct({ name: Schema.String }),
  error,
})

export class AnnotateJoin extends HttpApiGroup.make("join").add(join) {}

/** Returns the item that the expert holds. If the expert holds none, gives the next item to the expert. */
const next = HttpApiEndpoint.post("next", "/next", { success: Work })

/** Saves the draft and extends the hold. Fails with `Conflict` if the expert no longer holds the item. */
const saveDraft = HttpApiEndpoint.put("saveDraft", "/items/:item_id/draft", { params, payload: Draft })

const submit = HttpApiEndpoint.post("submit", "/items/:item_id/vote", { params, payload: Submission, success: Work })

const acknowledge = HttpApiEndpoint.post("acknowledge", "/items/:item_id/guidelines", {
  params,
  payload: Schema.Struct({ version: Schema.Int }),
  success: Work,
})

/** Returns the item to the queue, for other experts. This expert does not get it again. */
const skip = HttpApiEndpoint.post("skip", "/items/:item_id/skip", {
  params,
  payload: Schema.Struct({ reason: Reason }),
  success: Work,
})

/** Flags the item and skips it. The task's result contains the flag. A flag of kind `other` requires a comment. */
const flag = HttpApiEndpoint.post("flag", "/items/:item_id/flag", { params, payload: Flagging, success: Work })

/** Makes the expert's last vote a draft again. Fails with `Conflict` if the vote's task is completed, for example. */
const undo = HttpApiEndpoint.post("undo", "/undo", { success: Work })

const judgments = HttpApiEndpoint.get("judgments", "/judgments", { success: Schema.Array(GivenJudgment) })

/** Returns the item of a judgment, with the judgment as draft. Fails with `Conflict` if the judgment cannot change. */
const judgment = HttpApiEndpoint.get("judgment", "/judgments/:item_id", { params, success: Work })

const correct = HttpApiEndpoint.put("correct", "/judgments/:item_id", { params, payload: Submission, success: Work })

const session = HttpApiEndpoint.get("session", "/session", {
  success: Schema.Struct({ expert_id: Schema.String, name: Schema.String, progress: Progress }),
})

const signOut = HttpApiEndpoint.post("signOut", "/sign-out")

export class AnnotateWork extends HttpApiGroup.make("work")
  .add(next, saveDraft, acknowledge, submit, skip, flag, undo, judgments, judgment, correct, session, signOut)
  .middleware(ExpertSession) {}

export class AnnotateApi extends HttpApi.make("annotate").add(AnnotateJoin, AnnotateWork).prefix("/annotate/api") {}
