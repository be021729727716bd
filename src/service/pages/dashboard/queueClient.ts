/** The dashboard's requests about the queue: its order, and pauses. */
import type { GroupSummary, Priority } from "../../pageApi/GroupsApi.ts"
import { get, put } from "./client.ts"

interface Groups {
  readonly groups: ReadonlyArray<GroupSummary>
}

export const list = () => get<Groups>("/groups")
/** `experts`: ids; null: all. */
export const set = (group_id: string, priority: Priority, experts: ReadonlyArray<string> | null) =>
  put<Groups>("/groups", { group_id, priority, experts })
export const pause = (groupId: string, paused: boolean) =>
  put<void>(`/groups/${encodeURIComponent(groupId)}/paused`, { paused })
