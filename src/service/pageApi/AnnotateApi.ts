/**
 * The `HttpApi` of the annotation page, not part of the service's contract.
 *
 * Guarantees: each expert sees completions in an individual order and refers to them by place, so nothing on the page
 * reveals the models. All requests but `join` need an active expert's session; requests that change anything must pass
 * `Csrf`.
 */
import { Context, Schema } from "effect"
import {
  HttpApi,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
  HttpApiSecurity,
} from "effect/http-api"
import { BodyTooLarge, Forbidden, MalformedRequest, ServiceFailure } from "../../api/Problems.ts"
import { FlagKind } from "../../domain/Flag.ts"
import { Message } from "../../domain/Message.ts"
import { Rubric } from "../../domain/Rubric.ts"
import { maxLength } from "./PageConstants.ts"
import { Conflict, NotSignedIn } from "./WebProblems.ts"

export class SignedInExpert extends Context.Service<
  SignedInExpert,
  { readonly expertId: string; readonly name: string }
>()("prefstream/service/SignedInExpert") {}

/** The cookie is HttpOnly and SameSite=Strict; its value is random, and stored hashed. */
export class ExpertSession extends HttpApiMiddleware.Service<ExpertSession, { provides: SignedInExpert }>()(
  "prefstream/service/ExpertSession",
  {
    security: { cookie: HttpApiSecurity.apiKey({ key: "prefstream_expert", in: "cookie" }) },
    error: NotSignedIn,
  },
) {}

/** Places in the order shown, zero-based. */
const Place = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const Flags = Schema.Array(Schema.String.check(Schema.isMaxLength(80))).check(Schema.isMaxLength(20))
const EditedText = Schema.String.check(Schema.isMaxLength(maxLength.editedCompletion))
const Step = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))

/** What an expert says besides the choice, where the item's rubric asks for it. */
const Assessment = Schema.Struct({
  /** From 1 for the weakest. */
  strength: Schema.NullOr(Step),
  all_bad: Schema.Boolean,
  flags: Flags,
  /** By aspect, the rating of each place. */
  aspects: Schema.Record(Schema.String.check(Schema.isMaxLength(80)), Schema.Array(Schema.NullOr(Step))),
})

/** What an expert has entered for an item and not yet submitted. Groups of places, best first. */
export const Draft = Schema.Struct({
  mode: Schema.Literals(["best", "rank"]),
  best: Schema.NullOr(Place),
  ranking: Schema.Array(Schema.Array(Place)),
  rationale: Schema.String.check(Schema.isMaxLength(maxLength.rationale)),
  /** Seconds spent on the item until the draft was saved. */
  seconds: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)),
  /** With the completion that was edited last. */
  assessment: Schema.optionalKey(
    Schema.Struct({ ...Assessment.fields, edit: Schema.NullOr(Schema.Struct({ place: Place, text: EditedText })) }),
  ),
})
export type Draft = typeof Draft.Type

export const HeldItem = Schema.Struct({
  item_id: Schema.Int,
  guidelines: Schema.NullOr(Schema.String),
  guidelines_version: Schema.Int,
  /** The version that this expert saw last, if it is not the newest one. */
  guidelines_change: Schema.NullOr(Schema.Struct({ from: Schema.Int, before: Schema.String })),
  rubric: Rubric,
  prompt: Schema.String,
  /** The messages of a prompt that is a conversation; null where it is a text. */
  turns: Schema.NullOr(Schema.Array(Message)),
  /** In the order of this expert. */
  completions: Schema.Array(Schema.String),
  /** For each completion, its messages if it calls tools; null where it is a text. */
  completion_turns: Schema.Array(Schema.NullOr(Schema.Array(Message))),
  draft: Schema.NullOr(Draft),
  /** Whether the item was submitted before, and taken back with `undo`. */
  undone: Schema.Boolean,
  /** The item returns to the queue at this time (epoch milliseconds) unless a draft is saved before. */
  held_until: Schema.Int,
  /** Whether it belongs to the expert's qualification: `task` counts those items, and it can't be skipped or flagged. */
  qualification: Schema.Boolean,
  task: Schema.Struct({
    task_id: Schema.String,
    prompts: Schema.Int,
    /** How many of the task's prompts this expert has judged. */
    judged: Schema.Int,
    /** One-based place of this prompt in its task. */
    number: Schema.Int,
  }),
})
export type HeldItem = typeof HeldItem.Type

export const Progress = Schema.Struct({
  /** Items judged by this expert, ever. */
  judged: Schema.Int,
  /** Items judged by this expert since midnight, UTC. */
  judged_today: Schema.Int,
  /** Votes that open tasks still need, of whichever experts. */
  needed: Schema.Int,
  /** Whether the last submission can be taken back. */
  undoable: Schema.Boolean,
  /** Why this expert gets no work, in a plain sentence. */
  stopped: Schema.NullOr(Schema.String),
})
export type Progress = typeof Progress.Type

export const Work = Schema.Struct({
  /** Null where nothing is left for this expert at present. */
  item: Schema.NullOr(HeldItem),
  progress: Progress,
})
export type Work = typeof Work.Type

const Reason = Schema.String.check(Schema.isMaxLength(maxLength.comment))

export const Flagging = Schema.Struct({ kind: FlagKind, comment: Reason })
export type Flagging = typeof Flagging.Type

export const Submission = Schema.Struct({
  /** The place preferred; null where `ranking` says it. */
  best: Schema.NullOr(Place),
  /** All places, best first, where the expert ranked; null otherwise. */
  ranking: Schema.NullOr(Schema.Array(Schema.NonEmptyArray(Place))),
  rationale: Schema.String.check(Schema.isMaxLength(maxLength.rationale)),
  seconds: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)),
  /** That the page showed. */
  guidelines_version: Schema.optionalKey(Schema.Int),
  /** With the best as the expert edited it. */
  assessment: Schema.optionalKey(Schema.Struct({ ...Assessment.fields, edited: Schema.NullOr(EditedText) })),
})
export type Submission = typeof Submission.Type

const params = { item_id: Schema.Int.pipe(Schema.encodeTo(Schema.FiniteFromString)) }
const error = [BodyTooLarge, Conflict, Forbidden, MalformedRequest, ServiceFailure] as const

/** Turns an invitation into a session; the invitation is used up. Sets the cookie. */
const join = HttpApiEndpoint.post("join", "/join", {
  payload: Schema.Struct({ code: Schema.String.check(Schema.isMaxLength(maxLength.code)) }),
  success: Schema.Struct({ name: Schema.String }),
  error,
})

export class AnnotateJoin extends HttpApiGroup.make("join").add(join) {}

/** What the expert holds, or else the next item for him or her. The same item until it is submitted, skipped or flagged. */
const next = HttpApiEndpoint.post("next", "/next", { success: Work, error })

/** Saves the draft, and holds the item for longer. Conflict: the item is no longer held. */
const saveDraft = HttpApiEndpoint.put("saveDraft", "/items/:item_id/draft", {
  params,
  payload: Draft,
  success: HttpApiSchema.NoContent,
  error,
})

/** Gives the vote; answers with what is next. Conflict: the item is no longer held. */
const submit = HttpApiEndpoint.post("submit", "/items/:item_id/vote", {
  params,
  payload: Submission,
  success: Work,
  error,
})

/** The expert has seen this version of the guidelines, and is not told of it again. */
const acknowledge = HttpApiEndpoint.post("acknowledge", "/items/:item_id/guidelines", {
  params,
  payload: Schema.Struct({ version: Schema.Int }),
  success: Work,
  error,
})

/** Leaves the item to others; it does not come back to this expert. */
const skip = HttpApiEndpoint.post("skip", "/items/:item_id/skip", {
  params,
  payload: Schema.Struct({ reason: Reason }),
  success: Work,
  error,
})

/** Leaves the item to others; the operator sees the flag, and the task's result has it. `other` needs a comment. */
const flag = HttpApiEndpoint.post("flag", "/items/:item_id/flag", {
  params,
  payload: Flagging,
  success: Work,
  error,
})

/**
 * Takes back the last vote, as long as its task is not completed: the item is held again, with the vote as its draft.
 * What was held before keeps its draft and comes afterwards. Conflict: there is nothing to take back.
 */
const undo = HttpApiEndpoint.post("undo", "/undo", { success: Work, error })

const session = HttpApiEndpoint.get("session", "/session", {
  success: Schema.Struct({ expert_id: Schema.String, name: Schema.String, progress: Progress }),
  error,
})

const signOut = HttpApiEndpoint.post("signOut", "/sign-out", { success: HttpApiSchema.NoContent, error })

export class AnnotateWork extends HttpApiGroup.make("work")
  .add(next, saveDraft, acknowledge, submit, skip, flag, undo, session, signOut)
  .middleware(ExpertSession) {}

export class AnnotateApi extends HttpApi.make("annotate").add(AnnotateJoin, AnnotateWork).prefix("/annotate/api") {}
