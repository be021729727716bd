/**
 * The dashboard's requests, typed by `DashboardApi`.
 *
 * Guarantees: any response to `ask` that the session has ended is also reported to the listener of `whenSessionEnds`.
 */
import type { DashboardApi } from "../../pageApi/DashboardApi.ts"
import type { Requests } from "../../pageApi/PageClient.ts"
import { makeClient } from "../shared/api.ts"

export type DashboardRequests = Requests<typeof DashboardApi, "/dashboard/api">

let sessionEnded = () => {}

/** One listener. */
export const whenSessionEnds = (listener: () => void): void => {
  sessionEnded = listener
}

export const { ask, addressOf } = makeClient<DashboardRequests>("/dashboard/api", () => sessionEnded())
/** For requests that need no session. */
export const { ask: askSignedOut } = makeClient<DashboardRequests>("/dashboard/api")
