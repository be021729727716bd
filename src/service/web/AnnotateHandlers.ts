/** Implements `AnnotateApi`. Responses name completions only by position, and reveal nothing about others' votes. */
import { Effect, Layer, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { SqlError } from "effect/sql/SqlError"
import { Forbidden, MalformedRequest } from "../../api/Problems.ts"
import { OneTimeCodes } from "../account/OneTimeCodes.ts"
import * as Secrets from "../account/Secrets.ts"
import { Sessions } from "../account/Sessions.ts"
import { Database } from "../database/Database.ts"
import { ServiceAddress } from "../http/ServiceAddress.ts"
import { AnnotateApi, type HeldItem, SignedInExpert, type Work } from "../pageApi/AnnotateApi.ts"
import { Experts } from "../store/Experts.ts"
import { VoteQueue } from "../store/VoteQueue.ts"
import * as SignInGuard from "./SignInGuard.ts"
import { orDieOfSql } from "./StoreFailures.ts"

const joinHandlers = HttpApiBuilder.group(
  AnnotateApi,
  "join",
  Effect.fnUntraced(function* (handlers) {
    const { write } = yield* Database
    const codes = yield* OneTimeCodes
    const sessions = yield* Sessions
    const experts = yield* Experts
    const address = yield* ServiceAddress

    /** Returns the active expert whom the code invites, or undefined. The code stays valid. */
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
        const expert = yield* write(
          Effect.gen(function* () {
            const expert = yield* invited(code)
            if (expert === undefined || Option.isNone(yield* codes.use("invitation", code))) {
              return yield* new Forbidden({
                detail:
                  "This invitation is not valid: the link is incomplete, has been used, has expired, or was replaced. Ask for a new one.",
              })
            }
            yield* sessions.insert("expert", expert.expert_id, session)
            return expert
          }),
        ).pipe(Effect.catchTag("SqlError", Effect.die))
        yield* Effect.orDie(experts.touch(expert.expert_id))
        yield* SignInGuard.set("expert", session).pipe(Effect.provideService(ServiceAddress, address))
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

    const workOf = Effect.fnUntraced(function* (expertId: string, item: HeldItem | null) {
      return { item, progress: yield* queue.progress(expertId) } satisfies Work
    }, Effect.orDie)
    const nextWork = (expertId: string) =>
      Effect.flatMap(Effect.orDie(queue.next(expertId)), (item) => workOf(expertId, Option.getOrNull(item)))

    const asExpert = <A, E, R>(use: (expertId: string) => Effect.Effect<A, E, R>) =>
      Effect.flatMap(SignedInExpert, ({ expertId }) => use(expertId))
    const withItem = <E>(find: (expertId: string) => Effect.Effect<HeldItem, E | SqlError>) =>
      asExpert((expertId) => Effect.flatMap(orDieOfSql(find(expertId)), (item) => workOf(expertId, item)))
    const thenNext = <E>(change: (expertId: string) => Effect.Effect<unknown, E | SqlError>) =>
      asExpert((expertId) => Effect.andThen(orDieOfSql(change(expertId)), nextWork(expertId)))

    return handlers.handleAll({
      next: () => asExpert(nextWork),
      saveDraft: ({ params, payload }) =>
        asExpert((expertId) => orDieOfSql(queue.saveDraft(expertId, params.item_id, payload))),
      acknowledge: ({ params, payload }) =>
        thenNext((expertId) => Effect.orDie(queue.acknowledge(expertId, params.item_id, payload.version))),
      submit: ({ params, payload }) => thenNext((expertId) => queue.vote(expertId, params.item_id, payload)),
      skip: ({ params, payload }) =>
        thenNext((expertId) =>
          queue.setAside(expertId, params.item_id, { kind: "skip", reason: payload.reason.trim() }),
        ),
      flag: ({ params, payload: { comment, kind } }) =>
        kind === "other" && comment.trim() === ""
          ? new MalformedRequest({ detail: 'Describe the problem: a flag of kind "other" needs a comment.' })
          : thenNext((expertId) =>
              queue.setAside(expertId, params.item_id, { kind: "flag", problem: kind, comment: comment.trim() }),
            ),
      undo: () => withItem(queue.undo),
      judgments: () => asExpert((expertId) => Effect.orDie(queue.judgments(expertId))),
      judgment: ({ params }) => withItem((expertId) => queue.judgment(expertId, params.item_id)),
      correct: ({ params, payload }) => thenNext((expertId) => queue.correct(expertId, params.item_id, payload)),
      session: Effect.fnUntraced(function* () {
        const { expertId, name } = yield* SignedInExpert
        return { expert_id: expertId, name, progress: yield* Effect.orDie(queue.progress(expertId)) }
      }),
      signOut: () => Effect.orDie(SignInGuard.end("expert")).pipe(Effect.provide(services)),
    })
  }),
)

export const layer = Layer.merge(joinHandlers, workHandlers)
