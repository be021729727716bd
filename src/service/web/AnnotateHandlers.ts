/**
 * Implements `AnnotateApi` over the queue of votes.
 *
 * Guarantees: an expert sees and names only places of their own order. Responses reveal nothing about other experts'
 * votes.
 */
import { Effect, Layer, Option, Result, Schema, Struct } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Guidelines from "../../api/Guidelines.ts"
import { Forbidden, MalformedRequest } from "../../api/Problems.ts"
import * as Conversation from "../../domain/Conversation.ts"
import { none } from "../../domain/Rubric.ts"
import { Database } from "../database/Database.ts"
import { Experts } from "../store/Experts.ts"
import { VoteQueue } from "../store/VoteQueue.ts"
import type { HeldItem, PersonVote, SetAside } from "../store/VoteQueueModel.ts"
import { AnnotateApi, Draft, SignedInExpert, type Submission, type Work } from "../pageApi/AnnotateApi.ts"
import { OneTimeCodes } from "../account/OneTimeCodes.ts"
import { ServiceAddress } from "../http/ServiceAddress.ts"
import * as Secrets from "../account/Secrets.ts"
import * as SessionCookies from "./SessionCookies.ts"
import { Sessions } from "../account/Sessions.ts"
import { Conflict } from "../pageApi/WebProblems.ts"

const DraftText = Schema.fromJsonString(Draft)
const encodeDraft = Schema.encodeSync(DraftText)
const decodeDraft = Schema.decodeOption(DraftText)

/** Converts a vote that was taken back to a draft. */
const draftOf = ({ assessment, ...vote }: PersonVote): string =>
  encodeDraft({
    mode: vote.ranking === undefined ? "best" : "rank",
    best: vote.best ?? null,
    ranking: vote.ranking ?? [],
    rationale: vote.rationale ?? "",
    seconds: vote.seconds,
    ...(assessment !== undefined && {
      assessment: {
        ...Struct.omit(assessment, ["edited"]),
        edit: assessment.edited === null ? null : { place: bestOf(vote), text: assessment.edited },
      },
    }),
  })

/** The place of the completion that the expert may edit. */
const bestOf = ({ best, ranking }: Pick<PersonVote, "best" | "ranking">) => best ?? Math.min(...(ranking?.[0] ?? [0]))

const voteOf = (submission: Submission): PersonVote => ({
  best: submission.best ?? undefined,
  ranking: submission.ranking ?? undefined,
  rationale: submission.rationale.trim() === "" ? undefined : submission.rationale,
  seconds: submission.seconds,
  assessment: submission.assessment,
  guidelinesVersion: submission.guidelines_version,
})

/** The messages of a completion that calls tools. Other completions are text, and get null. */
const turnsOf = (text: string) =>
  Option.getOrNull(
    Option.filter(Conversation.parse(text), (messages) => messages.some(({ tool_calls }) => tool_calls !== undefined)),
  )

const show = (item: HeldItem): typeof Work.Type.item => ({
  item_id: item.itemId,
  guidelines: item.guidelines ?? null,
  guidelines_version: item.guidelinesVersion,
  guidelines_change: item.guidelinesChange ?? null,
  rubric: Result.getOrElse(Guidelines.parse(item.sentGuidelines), () => ({ rubric: none })).rubric,
  prompt: item.prompt.prompt,
  turns: Option.getOrNull(Conversation.parse(item.prompt.prompt)),
  completions: item.order.map((index) => item.prompt.completions[index]!),
  completion_turns: item.order.map((index) => turnsOf(item.prompt.completions[index]!)),
  draft: Option.getOrNull(Option.flatMap(item.draft, decodeDraft)),
  undone: item.undone,
  held_until: item.heldUntil,
  qualification: item.isQualification,
  task: {
    task_id: item.taskId,
    prompts: item.promptsInTask,
    judged: item.judgedInTask,
    number: item.promptIndex + 1,
  },
})

const notHeld = () =>
  new Conflict({
    detail:
      "You no longer hold this item: it was held for too long, a manager paused or withdrew it, or its task has ended.",
  })
const invalidVote = ({ problem }: { readonly problem: string }) => new MalformedRequest({ detail: problem })

const joinHandlers = HttpApiBuilder.group(
  AnnotateApi,
  "join",
  Effect.fnUntraced(function* (handlers) {
    const { write } = yield* Database
    const codes = yield* OneTimeCodes
    const sessions = yield* Sessions
    const experts = yield* Experts
    const address = yield* ServiceAddress

    /** Finds the active expert whom the code invites. Does not use the code up. */
    const invited = Effect.fnUntraced(function* (code: string) {
      const expertId = yield* codes.find("invitation", code)
      if (Option.isNone(expertId)) return undefined
      const expert = yield* experts.find(expertId.value)
      return Option.getOrUndefined(Option.filter(expert, ({ active }) => active))
    })

    return handlers.handle(
      "join",
      Effect.fnUntraced(function* ({ payload: { code } }) {
        const session = yield* Secrets.draw()
        const expert = yield* Effect.orDie(invited(code))
        const joined =
          expert === undefined
            ? false
            : yield* Effect.orDie(
                write(
                  Effect.gen(function* () {
                    if (Option.isNone(yield* codes.use("invitation", code))) return false
                    yield* sessions.insert("expert", expert.expert_id, session)
                    return true
                  }),
                ),
              )
        if (expert === undefined || !joined) {
          return yield* new Forbidden({
            detail: "This invitation was used already, is too old, or was replaced. Ask for a new one.",
          })
        }
        yield* Effect.orDie(experts.touch(expert.expert_id))
        yield* SessionCookies.set("expert", session).pipe(Effect.provideService(ServiceAddress, address))
        return { name: expert.name }
      }),
    )
  }),
)

const workHandlers = HttpApiBuilder.group(
  AnnotateApi,
  "work",
  Effect.fnUntraced(function* (handlers) {
    const queue = yield* VoteQueue
    const services = yield* Effect.context<ServiceAddress | Sessions>()

    const progressOf = Effect.fnUntraced(function* (expertId: string) {
      const { judged, judgedToday, stopped, undoable, votesNeeded } = yield* Effect.orDie(queue.progress(expertId))
      return { judged, judged_today: judgedToday, needed: votesNeeded, undoable, stopped: stopped ?? null }
    })
    const work = Effect.fnUntraced(function* (expertId: string, item: Option.Option<HeldItem>) {
      return {
        item: Option.getOrNull(Option.map(item, show)),
        progress: yield* progressOf(expertId),
      } satisfies typeof Work.Type
    })
    const nextWork = (expertId: string) =>
      Effect.flatMap(Effect.orDie(queue.next(expertId)), (item) => work(expertId, item))

    const setAside = Effect.fnUntraced(function* (itemId: number, why: SetAside) {
      const { expertId } = yield* SignedInExpert
      yield* queue.setAside(expertId, itemId, why).pipe(Effect.catchTags({ NotHeld: notHeld, SqlError: Effect.die }))
      return yield* nextWork(expertId)
    })

    return handlers.handleAll({
      next: Effect.fnUntraced(function* () {
        const { expertId } = yield* SignedInExpert
        return yield* nextWork(expertId)
      }),
      saveDraft: Effect.fnUntraced(function* ({ params, payload }) {
        const { expertId } = yield* SignedInExpert
        yield* queue
          .saveDraft(expertId, params.item_id, encodeDraft(payload))
          .pipe(Effect.catchTags({ NotHeld: notHeld, SqlError: Effect.die }))
      }),
      acknowledge: Effect.fnUntraced(function* ({ params, payload }) {
        const { expertId } = yield* SignedInExpert
        yield* Effect.orDie(queue.acknowledge(expertId, params.item_id, payload.version))
        return yield* nextWork(expertId)
      }),
      submit: Effect.fnUntraced(function* ({ params, payload }) {
        const { expertId } = yield* SignedInExpert
        yield* queue
          .vote(expertId, params.item_id, voteOf(payload))
          .pipe(Effect.catchTags({ InvalidVote: invalidVote, NotHeld: notHeld, SqlError: Effect.die }))
        return yield* nextWork(expertId)
      }),
      skip: ({ params, payload }) => setAside(params.item_id, { kind: "skip", reason: payload.reason.trim() }),
      flag: Effect.fnUntraced(function* ({ params, payload }) {
        const comment = payload.comment.trim()
        if (payload.kind === "other" && comment === "") {
          return yield* new MalformedRequest({ detail: "Say why the item should be reviewed." })
        }
        return yield* setAside(params.item_id, { kind: "flag", problem: payload.kind, comment })
      }),
      undo: Effect.fnUntraced(function* () {
        const { expertId } = yield* SignedInExpert
        const item = yield* queue.undo(expertId, draftOf).pipe(
          Effect.catchTags({
            NothingToUndo: () => new Conflict({ detail: "There is no vote of yours that can still be taken back." }),
            SqlError: Effect.die,
          }),
        )
        return yield* work(expertId, Option.some(item))
      }),
      session: Effect.fnUntraced(function* () {
        const { expertId, name } = yield* SignedInExpert
        return { expert_id: expertId, name, progress: yield* progressOf(expertId) }
      }),
      signOut: Effect.fnUntraced(function* () {
        yield* Effect.orDie(SessionCookies.end("expert")).pipe(Effect.provide(services))
      }),
    })
  }),
)

export const layer = Layer.merge(joinHandlers, workHandlers)
