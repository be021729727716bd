/** The dashboard's requests. If `ask` learns that the session has ended, it calls the listener of `whenSessionEnds`. */
import type { DashboardApi } from "../../pageApi/DashboardApi.ts"
import type { Requests } from "../../pageApi/PageClient.ts"
import { type Answer, makeClient } from "../shared/api.ts"

export type DashboardRequests = Requests<typeof DashboardApi, "/dashboard/api">

let sessionEnded = () => {}

export const whenSessionEnds = (listener: () => void): void => {
  sessionEnded = listener
}

export const { ask, addressOf } = makeClient<DashboardRequests>("/dashboard/api", () => sessionEnded())
export const { ask: askSignedOut } = makeClient<DashboardRequests>("/dashboard/api")

export const both = async <A, B>(first: Promise<Answer<A>>, second: Promise<Answer<B>>): Promise<Answer<A & B>> => {
  const [a, b] = await Promise.all([first, second])
  if (!a.ok) return a
  return b.ok ? { ok: true, value: { ...a.value, ...b.value } } : b
}
