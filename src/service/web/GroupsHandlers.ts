/** Implements the part of `DashboardApi` about groups of tasks. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { NotFound } from "../pageApi/WebProblems.ts"
import { Desk } from "../store/Desk.ts"
import { VoteQueue } from "../store/VoteQueue.ts"
import { orNotFound } from "./StoreFailures.ts"

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "groups",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* Desk
    const { groups, pauseGroup, setGroup } = yield* VoteQueue
    const noGroup = (groupId: string) => new NotFound({ detail: `No task is in group ${groupId}.` })
    return handlers.handleAll({
      list: ({ query: { after } }) => Effect.orDie(groups(after)),
      set: ({ payload: { experts, group_id, priority } }) =>
        setGroup({ groupId: group_id, priority, experts: experts ?? undefined }).pipe(
          Effect.catchTags({
            NoSuchGroup: () => noGroup(group_id),
            NoSuchExpert: ({ expertId }) => new NotFound({ detail: `There is no expert ${expertId}.` }),
            SqlError: Effect.die,
          }),
        ),
      group: ({ params: { group_id } }) => orNotFound(desk.group(group_id), "There is no such group."),
      pause: ({ params: { group_id }, payload: { paused } }) =>
        pauseGroup(group_id, paused).pipe(
          Effect.catchTags({ NoSuchGroup: () => noGroup(group_id), SqlError: Effect.die }),
        ),
    })
  }),
)
