/** The dashboard's requests about the order of the queue. */
import type { GroupSummary, Priority } from "../../pageApi/GroupsApi.ts"
import { get, put } from "./client.ts"

interface Groups {
  readonly groups: ReadonlyArray<GroupSummary>
}

export const list = () => get<Groups>("/groups")
/** `experts`: ids; null: all. */
export const set = (group_id: string, priority: Priority, experts: ReadonlyArray<string> | null) =>
  put<Groups>("/groups", { group_id, priority, experts })
