/**
 * The dashboard's routes, in the address behind `#`.
 *
 * Guarantees: `parse` reads every address that `format` returns, and never fails; other addresses are `unknown`. A
 * route contains everything needed to show it after a reload or a sign-in.
 */
import type { ItemState } from "../../pageApi/DeskApi.ts"
import type { TaskSummary } from "../../pageApi/DashboardApi.ts"
import { itemStates } from "./wording.ts"

export type TaskStatus = TaskSummary["status"]

/** What the items shown have in common; the members are those of the address. */
export interface ItemFilter {
  readonly text?: string | undefined
  readonly group?: string | undefined
  readonly state?: ItemState | undefined
  readonly expert?: string | undefined
  readonly flagged?: boolean | undefined
  /** At most, in percent. */
  readonly agreement?: number | undefined
  readonly before?: number | undefined
}

export type Route =
  | {
      readonly page: "tasks"
      readonly status: TaskStatus | undefined
      readonly before: number | undefined
      /** Part of a task's or a group's id. */
      readonly text?: string | undefined
    }
  | { readonly page: "items"; readonly filter: ItemFilter }
  | { readonly page: "expert"; readonly expertId: string }
  | { readonly page: "group"; readonly groupId: string }
  /** `prompt` counts from 1: the page that holds it is shown, scrolled to it. */
  | { readonly page: "task"; readonly taskId: string; readonly prompt: number | undefined }
  | { readonly page: "experts" }
  | { readonly page: "operators" }
  /** `after`: the tasks without a group that follow it. */
  | { readonly page: "queue"; readonly after: number | undefined }
  | { readonly page: "account" }
  | {
      readonly page: "audit"
      readonly actor: string | undefined
      readonly action: string | undefined
      readonly before: number | undefined
    }
  | { readonly page: "developer"; readonly before: number | undefined }
  | { readonly page: "delivery"; readonly messageId: string }
  | { readonly page: "set-up"; readonly code: string }
  | { readonly page: "unknown" }

export const statuses: ReadonlyArray<TaskStatus> = ["pending", "in_progress", "completed", "cancelled"]

const toStatus = (text: string | null): TaskStatus | undefined => statuses.find((status) => status === text)

const toFilter = (query: URLSearchParams): ItemFilter => {
  const text = (name: string) => query.get(name)?.slice(0, 200) || undefined
  const state = itemStates.find((state) => state === query.get("state"))
  const agreement = toInt(query.get("agreement"))
  const given = { text: text("text"), group: text("group"), state, expert: text("expert"), agreement }
  const before = toInt(query.get("before"))
  return { ...given, flagged: query.has("flagged") || undefined, before }
}

const toInt = (text: string | null): number | undefined =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined

const decode = (text: string): string | undefined => {
  // A stray % makes decodeURIComponent throw; such an address is unknown.
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** `hash` with or without its `#`. */
export const parse = (hash: string): Route => {
  const text = hash.replace(/^#/, "")
  const setUp = /^set-up=(.+)$/.exec(text)
  if (setUp !== null) {
    const code = decode(setUp[1] ?? "")
    return code === undefined ? { page: "unknown" } : { page: "set-up", code }
  }
  const [path = "", search = ""] = text.split("?", 2)
  const query = new URLSearchParams(search)
  const segments = path.split("/").filter((segment) => segment !== "")
  const [first = "tasks", second, third] = segments
  const before = toInt(query.get("before"))
  if (segments.length <= 1) {
    if (first === "tasks") {
      const text = query.get("text")?.slice(0, 200)
      return { page: "tasks", status: toStatus(query.get("status")), before, ...(text && { text }) }
    }
    if (first === "items") return { page: "items", filter: toFilter(query) }
    if (first === "experts" || first === "operators" || first === "account") return { page: first }
    if (first === "queue") return { page: "queue", after: toInt(query.get("after")) }
    if (first === "audit") {
      return { page: "audit", actor: query.get("actor") ?? undefined, action: query.get("action") ?? undefined, before }
    }
    if (first === "developer") return { page: "developer", before }
  }
  if (segments.length === 2 && first === "tasks" && second !== undefined) {
    const taskId = decode(second)
    if (taskId !== undefined) return { page: "task", taskId, prompt: toInt(query.get("prompt")) || undefined }
  }
  if (segments.length === 2 && second !== undefined && (first === "experts" || first === "groups")) {
    const name = decode(second)
    if (name !== undefined)
      return first === "experts" ? { page: "expert", expertId: name } : { page: "group", groupId: name }
  }
  if (segments.length === 3 && first === "developer" && second === "deliveries" && third !== undefined) {
    const messageId = decode(third)
    if (messageId !== undefined) return { page: "delivery", messageId }
  }
  return { page: "unknown" }
}

const withQuery = (path: string, query: Record<string, string | number | undefined>): string => {
  const given = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined) given.set(key, String(value))
  return given.size === 0 ? path : `${path}?${given.toString()}`
}

/** With its `#`: the `href` of a link. */
export const format = (route: Exclude<Route, { readonly page: "set-up" | "unknown" }>): string => {
  switch (route.page) {
    case "tasks":
      return withQuery("#/tasks", { status: route.status, text: route.text, before: route.before })
    case "items":
      return withQuery("#/items", { ...route.filter, flagged: route.filter.flagged ? "yes" : undefined })
    case "expert":
      return `#/experts/${encodeURIComponent(route.expertId)}`
    case "group":
      return `#/groups/${encodeURIComponent(route.groupId)}`
    case "task":
      return withQuery(`#/tasks/${encodeURIComponent(route.taskId)}`, { prompt: route.prompt })
    case "experts":
    case "operators":
    case "account":
      return `#/${route.page}`
    case "queue":
      return withQuery("#/queue", { after: route.after })
    case "audit":
      return withQuery("#/audit", { actor: route.actor, action: route.action, before: route.before })
    case "developer":
      return withQuery("#/developer", { before: route.before })
    case "delivery":
      return `#/developer/deliveries/${encodeURIComponent(route.messageId)}`
  }
}

export const allTasks = format({ page: "tasks", status: undefined, before: undefined })
export const allItems = format({ page: "items", filter: {} })
export const developer = format({ page: "developer", before: undefined })

/** What the route shows, as one text: equal for places between which the focus need not move. */
export const placeOf = (route: Route): string => {
  switch (route.page) {
    case "task":
      return `task ${route.taskId}`
    case "expert":
      return `expert ${route.expertId}`
    case "group":
      return `group ${route.groupId}`
    case "delivery":
      return `delivery ${route.messageId}`
    default:
      return route.page
  }
}
