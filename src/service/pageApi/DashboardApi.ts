/**
 * The `HttpApi` of the dashboard, not part of the service's contract.
 *
 * Guarantees: secrets are only in the response to the request that created them. Times are epoch milliseconds. Lists
 * are newest first: `next` is the `before` of the next page, null at the end. All requests but `DashboardSignIn`'s need
 * an operator's session, and his or her role (`MinRole`); requests that change anything must pass `Csrf`.
 */
/* oxlint-disable max-lines -- one HttpApi, of declarations alone */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { FlagKind } from "../../domain/Flag.ts"
import { Rubric } from "../../domain/Rubric.ts"
import { Ranking } from "../../domain/Ranking.ts"
import { Vote } from "../../domain/Vote.ts"
import { DashboardAudit } from "./AuditApi.ts"
import { DashboardGroups } from "./GroupsApi.ts"
import { DashboardQualification } from "./QualificationApi.ts"
import { DashboardDesk, Decision, Withdrawal } from "./DeskApi.ts"
import { Account, changePassword, DashboardOperators } from "./OperatorsApi.ts"
import {
  error,
  IntFromQuery,
  longest,
  MinRole,
  Millis,
  Name,
  OperatorSession,
  page,
  Password,
} from "./OperatorSession.ts"
import { NotSignedIn } from "./WebProblems.ts"

/** How long a replaced secret stays valid: 0 ends it immediately. */
const Rotation = Schema.Struct({ keep_hours: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 24 * 30 })) })

// Signing in

/** Whose link it is; null: of whoever chooses a name. Does not use it up. */
const link = HttpApiEndpoint.post("link", "/link", {
  payload: Schema.Struct({ code: Schema.String }),
  success: Schema.Struct({ name: Schema.NullOr(Schema.String) }),
  error,
})
/**
 * Uses up a sign-in link: gives the account a new password, and makes it where it does not exist. Sets the cookie. The
 * name counts where the link has none.
 */
const setUp = HttpApiEndpoint.post("setUp", "/set-up", {
  payload: Schema.Struct({ code: Schema.String, name: Name, password: Password }),
  success: Account,
  error,
})

const signIn = HttpApiEndpoint.post("signIn", "/sign-in", {
  // What no account has is not checked: to normalize a long name takes long.
  payload: Schema.Struct({
    name: Schema.String.check(Schema.isMaxLength(longest.name)),
    password: Schema.String.check(Schema.isMaxLength(longest.password)),
  }),
  success: Account,
  error: [...error, NotSignedIn],
})

export class DashboardSignIn extends HttpApiGroup.make("signIn").add(link, setUp, signIn) {}

const session = HttpApiEndpoint.get("session", "/session", { success: Account, error })
const signOut = HttpApiEndpoint.post("signOut", "/sign-out", { success: HttpApiSchema.NoContent, error }).annotate(
  MinRole,
  "viewer",
)

export class DashboardSession extends HttpApiGroup.make("session")
  .add(session, signOut, changePassword)
  .middleware(OperatorSession) {}

// Tasks

export const TaskStatus = Schema.Literals(["pending", "in_progress", "completed", "cancelled"])

export const TaskSummary = Schema.Struct({
  task_id: Schema.String,
  /** The task's own id where it has no group. */
  group_id: Schema.String,
  status: TaskStatus,
  created_at: Millis,
  /** Where it has all its votes and is in progress: until then votes can be taken back. */
  completes_at: Schema.NullOr(Millis),
  finished_at: Schema.NullOr(Millis),
  prompts: Schema.Int,
  /** Prompts that have all their votes. */
  prompts_done: Schema.Int,
  votes_per_prompt: Schema.Int,
  /** Asked for beyond these, when prompts were reopened. */
  extra_votes: Schema.Int,
  /** Not needed, as their prompts were decided or withdrawn. */
  votes_spared: Schema.Int,
  /** Whether its group is paused, or itself if it has none. */
  paused: Schema.Boolean,
  votes: Schema.Int,
  /** Prompts that somebody flagged, done or not. */
  flagged: Schema.Int,
})
export type TaskSummary = typeof TaskSummary.Type

export const Overview = Schema.Struct({
  tasks: Schema.Struct({ pending: Schema.Int, in_progress: Schema.Int, completed: Schema.Int, cancelled: Schema.Int }),
  /** Votes given and needed by the tasks that are open. */
  open_votes: Schema.Struct({ given: Schema.Int, needed: Schema.Int }),
})
export type Overview = typeof Overview.Type

export const TaskItem = Schema.Struct({
  /** Zero-based place in the task. */
  index: Schema.Int,
  prompt: Schema.String,
  completions: Schema.Array(Schema.String),
  done: Schema.Boolean,
  /** Asked for beyond those that the task asks for. */
  extra_votes: Schema.Int,
  votes: Schema.Array(Schema.Struct({ ...Vote.fields, expert_name: Schema.String })),
  /** Votes that count no longer. */
  voided: Schema.Array(Schema.Struct({ ...Vote.fields, expert_name: Schema.String })),
  /** A lead's judgment, which is the result. */
  decision: Schema.NullOr(Decision),
  /** Set where a lead withdrew the prompt: its result is that there is no judgment. */
  withdrawal: Schema.NullOr(Withdrawal),
  /** Experts who hold the item at present. */
  held_by: Schema.Array(Schema.String),
  /** Experts who leave it to others; the reason of a flag is among `flags`. */
  set_aside: Schema.Array(
    Schema.Struct({ expert_name: Schema.String, kind: Schema.Literals(["skip", "flag"]), reason: Schema.String }),
  ),
  /** What experts said is wrong with it; `comment` may be empty. */
  flags: Schema.Array(Schema.Struct({ expert_name: Schema.String, kind: FlagKind, comment: Schema.String })),
  /** Where the item is done. */
  result: Schema.NullOr(
    Schema.Struct({
      best_completion_index: Schema.Int,
      agreement: Schema.Finite,
      tie: Schema.Boolean,
      ranking: Schema.NullOr(Ranking),
      rationale: Schema.NullOr(Schema.String),
    }),
  ),
})
export type TaskItem = typeof TaskItem.Type

export const TaskDetail = Schema.Struct({
  task: TaskSummary,
  /** The newest version, without the rubric. */
  guidelines: Schema.NullOr(Schema.String),
  /** As it was sent; null where there is none, or it can't be read. */
  rubric: Schema.NullOr(Rubric),
  guidelines_version: Schema.Int,
  /** From `from` on, up to 20. */
  items: Schema.Array(TaskItem),
  from: Schema.Int,
  /** Places (zero-based) of prompts that somebody flagged, in order, up to 100. */
  flagged_at: Schema.Array(Schema.Int),
})
export type TaskDetail = typeof TaskDetail.Type

const overview = HttpApiEndpoint.get("overview", "/overview", { success: Overview, error })
const list = HttpApiEndpoint.get("list", "/tasks", {
  query: {
    ...page,
    status: Schema.optionalKey(TaskStatus),
    /** Part of the id of the task or of its group. */
    text: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(200))),
  },
  success: Schema.Struct({ tasks: Schema.Array(TaskSummary), next: Schema.NullOr(Schema.Int) }),
  error,
})
const taskParams = { task_id: Schema.String }
const detail = HttpApiEndpoint.get("detail", "/tasks/:task_id", {
  params: taskParams,
  query: { from: Schema.optionalKey(IntFromQuery) },
  success: TaskDetail,
  error,
})
/** Conflict: the task is complete already. */
const cancel = HttpApiEndpoint.post("cancel", "/tasks/:task_id/cancel", {
  params: taskParams,
  success: HttpApiSchema.NoContent,
  error,
})
/** Forgets who set the item aside, so that all experts are asked again. What they flagged stays on record. */
const returnItem = HttpApiEndpoint.post("returnItem", "/tasks/:task_id/items/:index/return", {
  params: { ...taskParams, index: IntFromQuery },
  success: HttpApiSchema.NoContent,
  error,
})

export class DashboardTasks extends HttpApiGroup.make("tasks")
  .add(overview, list, detail, cancel, returnItem)
  .middleware(OperatorSession) {}

// Organization tokens

export const TokenSummary = Schema.Struct({
  token_id: Schema.String,
  name: Schema.String,
  /** The first characters, to tell tokens apart. */
  hint: Schema.String,
  created_at: Millis,
  last_used_at: Schema.NullOr(Millis),
  /** When it stops being accepted: after a rotation. */
  expires_at: Schema.NullOr(Millis),
  revoked_at: Schema.NullOr(Millis),
})
export type TokenSummary = typeof TokenSummary.Type
const NewToken = Schema.Struct({ token: Schema.String, summary: TokenSummary })
export type NewToken = typeof NewToken.Type

const tokenParams = { token_id: Schema.String }
const listTokens = HttpApiEndpoint.get("list", "/tokens", {
  success: Schema.Struct({
    tokens: Schema.Array(TokenSummary),
    /** Whether the token that the service was started with is accepted, too. */
    given: Schema.Boolean,
  }),
  error,
})
const createToken = HttpApiEndpoint.post("create", "/tokens", {
  payload: Schema.Struct({ name: Name }),
  success: NewToken,
  error,
})
/** A new token with the same name; the old one is accepted for `keep_hours` more (0: no longer). */
const rotateToken = HttpApiEndpoint.post("rotate", "/tokens/:token_id/rotate", {
  params: tokenParams,
  payload: Rotation,
  success: NewToken,
  error,
})
const revokeToken = HttpApiEndpoint.post("revoke", "/tokens/:token_id/revoke", {
  params: tokenParams,
  success: HttpApiSchema.NoContent,
  error,
})

export class DashboardTokens extends HttpApiGroup.make("tokens")
  .add(listTokens, createToken, rotateToken, revokeToken)
  .annotateEndpoints(MinRole, "admin")
  .middleware(OperatorSession) {}

// Webhook

export const WebhookSettings = Schema.Struct({
  /** Null where none is set. */
  url: Schema.NullOr(Schema.String),
  enabled: Schema.Boolean,
  /** Why it was disabled by the service, such as 410 from the receiver. */
  disabled_reason: Schema.NullOr(Schema.String),
  /** Null where the last attempt succeeded, or none was made at this URL. */
  failing: Schema.NullOr(
    Schema.Struct({
      since: Millis,
      /** In a row. */
      attempts: Schema.Int,
      last_at: Millis,
      last_status: Schema.NullOr(Schema.Int),
      last_error: Schema.NullOr(Schema.String),
    }),
  ),
  /** Deliveries that wait for an attempt. */
  waiting: Schema.Int,
  /** The first of them; null where none waits, or the webhook is disabled. */
  next_attempt_at: Schema.NullOr(Millis),
  /** Secrets that sign at present: the newest first, and while it is rotated the one before. */
  secrets: Schema.Array(Schema.Struct({ created_at: Millis, expires_at: Schema.NullOr(Millis) })),
})
export type WebhookSettings = typeof WebhookSettings.Type

export const Delivery = Schema.Struct({
  /** The `webhook-id` header: the same for each attempt. */
  message_id: Schema.String,
  type: Schema.String,
  group_id: Schema.String,
  tasks: Schema.Int,
  created_at: Millis,
  state: Schema.Literals(["waiting", "delivered", "failed"]),
  attempts: Schema.Int,
  next_attempt_at: Schema.NullOr(Millis),
  /** HTTP status of the last attempt; null before the first, and where none came. */
  last_status: Schema.NullOr(Schema.Int),
})
export type Delivery = typeof Delivery.Type

export const DeliveryDetail = Schema.Struct({
  delivery: Delivery,
  /** The body, as sent. */
  payload: Schema.String,
  attempts: Schema.Array(
    Schema.Struct({
      at: Millis,
      url: Schema.String,
      status: Schema.NullOr(Schema.Int),
      /** Why it failed where no status came, or what a status means: refused connection, timeout, redirect. */
      error: Schema.NullOr(Schema.String),
      millis: Schema.Int,
      /** The first 1,000 characters of the answer. */
      answer: Schema.String,
    }),
  ),
})
export type DeliveryDetail = typeof DeliveryDetail.Type

const webhook = HttpApiEndpoint.get("settings", "/webhook", { success: WebhookSettings, error })
/** Sets the URL and enables. With the first URL a secret is made, which is in this answer only. Conflict: an address that is not allowed. */
const setWebhook = HttpApiEndpoint.put("set", "/webhook", {
  payload: Schema.Struct({ url: Schema.String.check(Schema.isMaxLength(2_000)) }),
  success: Schema.Struct({ settings: WebhookSettings, secret: Schema.NullOr(Schema.String) }),
  error,
})
const removeWebhook = HttpApiEndpoint.delete("remove", "/webhook", { success: HttpApiSchema.NoContent, error })
/** A new secret; the old one signs along for `keep_hours` more. */
const rotateSecret = HttpApiEndpoint.post("rotateSecret", "/webhook/rotate-secret", {
  payload: Rotation,
  success: Schema.Struct({ settings: WebhookSettings, secret: Schema.String }),
  error,
})
/** Sends an event of type `webhook.test` to the URL. */
const testWebhook = HttpApiEndpoint.post("test", "/webhook/test", {
  success: Schema.Struct({ message_id: Schema.String }),
  error,
})
const deliveries = HttpApiEndpoint.get("deliveries", "/deliveries", {
  query: page,
  success: Schema.Struct({ deliveries: Schema.Array(Delivery), next: Schema.NullOr(Schema.Int) }),
  error,
})
const deliveryParams = { message_id: Schema.String }
const delivery = HttpApiEndpoint.get("delivery", "/deliveries/:message_id", {
  params: deliveryParams,
  success: DeliveryDetail,
  error,
})
/** Attempts the delivery once more, immediately; the schedule starts anew where that fails. */
const resend = HttpApiEndpoint.post("resend", "/deliveries/:message_id/resend", {
  params: deliveryParams,
  success: HttpApiSchema.NoContent,
  error,
})

export class DashboardWebhook extends HttpApiGroup.make("webhook")
  .add(webhook, setWebhook, removeWebhook, rotateSecret, testWebhook, deliveries, delivery, resend)
  .annotateEndpoints(MinRole, "admin")
  .middleware(OperatorSession) {}

// Experts

export const ExpertSummary = Schema.Struct({
  expert_id: Schema.String,
  name: Schema.String,
  kind: Schema.Literals(["person", "automatic"]),
  active: Schema.Boolean,
  /** Whether the invitation was accepted. */
  joined: Schema.Boolean,
  created_at: Millis,
  last_seen_at: Schema.NullOr(Millis),
  judged: Schema.Int,
  /** Of the items of which the others' votes have a majority: how many the expert judged like it. */
  majority: Schema.Struct({ agreed: Schema.Int, of: Schema.Int }),
  /** Of the gold items: how many the expert judged right. */
  gold: Schema.Struct({ right: Schema.Int, of: Schema.Int }),
})
export type ExpertSummary = typeof ExpertSummary.Type

const expertParams = { expert_id: Schema.String }
const NewInvitation = Schema.Struct({
  expert: ExpertSummary,
  /** Path and code of the link, from the service's root on; it can be used once, for 7 days. */
  invitation: Schema.String,
})
export type NewInvitation = typeof NewInvitation.Type
const listExperts = HttpApiEndpoint.get("list", "/experts", {
  success: Schema.Struct({ experts: Schema.Array(ExpertSummary) }),
  error,
})
/** Conflict: an expert has this name already. */
const invite = HttpApiEndpoint.post("invite", "/experts", {
  payload: Schema.Struct({ name: Name }),
  success: NewInvitation,
  error,
})
/** A new link for an expert who lost the old one, or works on another device. Older links stop working; sessions go on. */
const inviteAgain = HttpApiEndpoint.post("inviteAgain", "/experts/:expert_id/invite", {
  params: expertParams,
  success: NewInvitation,
  error,
})
/** An expert who is not active is signed out, loses his or her invitation, and what he or she holds returns to the queue. Votes stay. */
const setActive = HttpApiEndpoint.put("setActive", "/experts/:expert_id/active", {
  params: expertParams,
  payload: Schema.Struct({ active: Schema.Boolean }),
  success: ExpertSummary,
  error,
})

export class DashboardExperts extends HttpApiGroup.make("experts")
  .add(listExperts, invite, inviteAgain, setActive)
  .middleware(OperatorSession) {}

export class DashboardApi extends HttpApi.make("dashboard")
  .add(DashboardSignIn, DashboardSession, DashboardTasks, DashboardTokens, DashboardWebhook, DashboardExperts)
  .add(DashboardOperators, DashboardAudit, DashboardGroups, DashboardDesk, DashboardQualification)
  .prefix("/dashboard/api") {}
