/** The dashboard's requests about the queue: its order, and pauses. */
import type { Priority, Queue } from "../../pageApi/GroupsApi.ts"
import { get, put } from "./client.ts"

export const list = (after: number | undefined) => get<Queue>(`/groups${after === undefined ? "" : `?after=${after}`}`)
/** `experts`: ids; null: all. */
export const set = (group_id: string, priority: Priority, experts: ReadonlyArray<string> | null) =>
  put<void>("/groups", { group_id, priority, experts })
export const pause = (groupId: string, paused: boolean) =>
  put<void>(`/groups/${encodeURIComponent(groupId)}/paused`, { paused })
