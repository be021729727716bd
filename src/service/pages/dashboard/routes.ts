/**
 * The dashboard's routes, in the address behind `#`.
 *
 * Guarantees: `parse` reads every address that `format` returns, and never fails; other addresses are `unknown`. A
 * route contains everything needed to show it after a reload or a sign-in.
 */
import type { TaskSummary } from "../../pageApi/DashboardApi.ts"

export type TaskStatus = TaskSummary["status"]

export type Route =
  | { readonly page: "tasks"; readonly status: TaskStatus | undefined; readonly before: number | undefined }
  /** `prompt` counts from 1: the page that holds it is shown, scrolled to it. */
  | { readonly page: "task"; readonly taskId: string; readonly prompt: number | undefined }
  | { readonly page: "experts" }
  | { readonly page: "operators" }
  | { readonly page: "account" }
  | { readonly page: "developer"; readonly before: number | undefined }
  | { readonly page: "delivery"; readonly messageId: string }
  | { readonly page: "set-up"; readonly code: string }
  | { readonly page: "unknown" }

export const statuses: ReadonlyArray<TaskStatus> = ["pending", "in_progress", "completed", "cancelled"]

const toStatus = (text: string | null): TaskStatus | undefined => statuses.find((status) => status === text)

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
    if (first === "tasks") return { page: "tasks", status: toStatus(query.get("status")), before }
    if (first === "experts" || first === "operators" || first === "account") return { page: first }
    if (first === "developer") return { page: "developer", before }
  }
  if (segments.length === 2 && first === "tasks" && second !== undefined) {
    const taskId = decode(second)
    if (taskId !== undefined) return { page: "task", taskId, prompt: toInt(query.get("prompt")) || undefined }
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
      return withQuery("#/tasks", { status: route.status, before: route.before })
    case "task":
      return withQuery(`#/tasks/${encodeURIComponent(route.taskId)}`, { prompt: route.prompt })
    case "experts":
    case "operators":
    case "account":
      return `#/${route.page}`
    case "developer":
      return withQuery("#/developer", { before: route.before })
    case "delivery":
      return `#/developer/deliveries/${encodeURIComponent(route.messageId)}`
  }
}

export const allTasks = format({ page: "tasks", status: undefined, before: undefined })
export const developer = format({ page: "developer", before: undefined })

/** What the route shows, as one text: equal for places between which the focus need not move. */
export const placeOf = (route: Route): string => {
  switch (route.page) {
    case "task":
      return `task ${route.taskId}`
    case "delivery":
      return `delivery ${route.messageId}`
    default:
      return route.page
  }
}
