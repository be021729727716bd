/**
 * The dashboard's requests, typed by `DashboardApi`.
 *
 * Guarantees: any response that the session has ended is also reported to the listener of `whenSessionEnds`.
 */
import { type Answer, makeApi, type Method } from "../shared/api.ts"
import type * as DashboardApi from "../../pageApi/DashboardApi.ts"
import type { Account } from "../../pageApi/OperatorsApi.ts"
import type { TaskStatus } from "./routes.ts"

const tasksPerPage = 50
const deliveriesPerPage = 20
/** As many items of a task as the service gives in one answer. */
export const itemsPerPage = 20

const id = encodeURIComponent

let sessionEnded = () => {}

/** One listener. */
export const whenSessionEnds = (listener: () => void): void => {
  sessionEnded = listener
}

const api = makeApi("/dashboard/api")

const ask = async <A>(method: Method, path: string, body?: unknown): Promise<Answer<A>> => {
  const answer = await api<A>(method, path, body)
  if (!answer.ok && answer.problem.status === 401) sessionEnded()
  return answer
}

export const get = <A>(path: string) => ask<A>("GET", path)
export const post = <A>(path: string, body?: unknown) => ask<A>("POST", path, body)
export const put = <A>(path: string, body: unknown) => ask<A>("PUT", path, body)

export const remove = <A>(path: string) => ask<A>("DELETE", path)

export const page = (
  limit: number,
  before: number | undefined,
  more: Record<string, string | undefined> = {},
): string => {
  const query = new URLSearchParams({ limit: String(limit) })
  if (before !== undefined) query.set("before", String(before))
  for (const [key, value] of Object.entries(more)) if (value !== undefined) query.set(key, value)
  return `?${query.toString()}`
}

/** Does not tell of a missing session: that is what it asks. */
export const session = () => api<Account>("GET", "/session")
/** Whose link it is; nobody's yet, where the name is null. */
export const link = (code: string) => api<{ readonly name: string | null }>("POST", "/link", { code })
export const setUp = (code: string, name: string, password: string) =>
  api<Account>("POST", "/set-up", { code, name, password })
export const signIn = (name: string, password: string) => api<Account>("POST", "/sign-in", { name, password })
export const signOut = () => post<void>("/sign-out")

export const overview = () => get<DashboardApi.Overview>("/overview")
export const tasks = (status: TaskStatus | undefined, before: number | undefined, text?: string) =>
  get<{ readonly tasks: ReadonlyArray<DashboardApi.TaskSummary>; readonly next: number | null }>(
    `/tasks${page(tasksPerPage, before, { status, text })}`,
  )
export const task = (taskId: string, from: number) => get<DashboardApi.TaskDetail>(`/tasks/${id(taskId)}?from=${from}`)
export const cancelTask = (taskId: string) => post<void>(`/tasks/${id(taskId)}/cancel`)
export const returnItem = (taskId: string, index: number) => post<void>(`/tasks/${id(taskId)}/items/${index}/return`)

export const tokens = () =>
  get<{ readonly tokens: ReadonlyArray<DashboardApi.TokenSummary>; readonly given: boolean }>("/tokens")
export const createToken = (name: string) => post<DashboardApi.NewToken>("/tokens", { name })
export const rotateToken = (tokenId: string, keep_hours: number) =>
  post<DashboardApi.NewToken>(`/tokens/${id(tokenId)}/rotate`, { keep_hours })
export const revokeToken = (tokenId: string) => post<void>(`/tokens/${id(tokenId)}/revoke`)

export const webhook = () => get<DashboardApi.WebhookSettings>("/webhook")
export const setWebhook = (url: string) =>
  put<{ readonly settings: DashboardApi.WebhookSettings; readonly secret: string | null }>("/webhook", { url })
export const removeWebhook = () => remove<void>("/webhook")
export const rotateSecret = (keep_hours: number) =>
  post<{ readonly settings: DashboardApi.WebhookSettings; readonly secret: string }>("/webhook/rotate-secret", {
    keep_hours,
  })
export const testWebhook = () => post<{ readonly message_id: string }>("/webhook/test")

export const deliveries = (before: number | undefined) =>
  get<{ readonly deliveries: ReadonlyArray<DashboardApi.Delivery>; readonly next: number | null }>(
    `/deliveries${page(deliveriesPerPage, before)}`,
  )
export const delivery = (messageId: string) => get<DashboardApi.DeliveryDetail>(`/deliveries/${id(messageId)}`)
export const resend = (messageId: string) => post<void>(`/deliveries/${id(messageId)}/resend`)

export const experts = () => get<{ readonly experts: ReadonlyArray<DashboardApi.ExpertSummary> }>("/experts")
export const invite = (name: string) => post<DashboardApi.NewInvitation>("/experts", { name })
export const inviteAgain = (expertId: string) => post<DashboardApi.NewInvitation>(`/experts/${id(expertId)}/invite`)
export const setActive = (expertId: string, active: boolean) =>
  put<DashboardApi.ExpertSummary>(`/experts/${id(expertId)}/active`, { active })
