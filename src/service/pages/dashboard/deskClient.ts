/** The dashboard's requests for what managers search and decide, typed by `DeskApi`. */
import type * as DeskApi from "../../pageApi/DeskApi.ts"
import { get, page, post, put, remove } from "./client.ts"
import type { ItemFilter } from "./routes.ts"

const itemsPerPage = 25
const id = encodeURIComponent

const queryOf = ({ before: _before, flagged, agreement, ...filter }: ItemFilter) => ({
  ...filter,
  flagged: flagged ? "true" : undefined,
  max_agreement: agreement?.toString(),
})

export const items = (filter: ItemFilter) =>
  get<{ readonly items: ReadonlyArray<DeskApi.ItemSummary>; readonly next: number | null }>(
    `/items${page(itemsPerPage, filter.before, queryOf(filter))}`,
  )
/** The address of the file with the votes on all items that match. */
export const votesHref = (filter: ItemFilter, format: "jsonl" | "csv"): string => {
  const query = new URLSearchParams({ format })
  for (const [key, value] of Object.entries(queryOf(filter))) if (value !== undefined) query.set(key, value)
  return `/dashboard/api/votes?${query.toString()}`
}
export const decide = (taskId: string, index: number, choice: number, rationale: string) =>
  put<void>(`/tasks/${id(taskId)}/items/${index}/decision`, { choice, rationale })
export const withdrawDecision = (taskId: string, index: number) =>
  remove<void>(`/tasks/${id(taskId)}/items/${index}/decision`)
export const withdrawPrompt = (taskId: string, index: number, reason: string) =>
  put<void>(`/tasks/${id(taskId)}/items/${index}/withdrawal`, { reason })
export const restorePrompt = (taskId: string, index: number) =>
  remove<void>(`/tasks/${id(taskId)}/items/${index}/withdrawal`)
/** `prompts`: zero-based places; null: all. */
export const reopen = (taskId: string, votes: number, prompts: ReadonlyArray<number> | null) =>
  post<{ readonly prompts: number }>(`/tasks/${id(taskId)}/reopen`, { votes, prompts })
export const endReopening = (taskId: string) => remove<{ readonly prompts: number }>(`/tasks/${id(taskId)}/reopen`)
export const expert = (expertId: string) => get<DeskApi.ExpertDetail>(`/experts/${id(expertId)}`)
export const group = (groupId: string) => get<DeskApi.GroupDetail>(`/groups/${id(groupId)}`)
export const voidVotes = (expertId: string, reason: string) =>
  post<DeskApi.Voided>(`/experts/${id(expertId)}/void`, { reason })
export const restoreVotes = (voidingId: number) => post<DeskApi.Voided>(`/voidings/${voidingId}/undo`)
export const guidelines = (taskId: string) => get<DeskApi.GuidelineHistory>(`/tasks/${id(taskId)}/guidelines`)
export const editGuidelines = (taskId: string, text: string, version: number) =>
  put<DeskApi.GuidelineHistory>(`/tasks/${id(taskId)}/guidelines`, { text, version })
