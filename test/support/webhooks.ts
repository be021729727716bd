/** A sender of webhooks that is not prefstream's own: the reference library of Standard Webhooks. */
import { urlToHttpOptions } from "node:url"
import { Effect, Redacted } from "effect"
import { Webhook } from "standardwebhooks"
import { exchange } from "./listening.ts"
import type { Running } from "./process.ts"

export const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
export const otherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
export const secrets = [Redacted.make(secret)] as const

export interface Signing {
  readonly secret?: string | undefined
  readonly id?: string | undefined
  /** Epoch milliseconds. */
  readonly at?: number | undefined
}

let sent = 0

/** The headers and body of a delivery, signed now unless told otherwise. */
export const signed = (payload: unknown, { at = Date.now(), id = `msg_${++sent}`, ...signing }: Signing = {}) => {
  const body = typeof payload === "string" ? payload : JSON.stringify(payload)
  return {
    body,
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at / 1000)),
      "webhook-signature": new Webhook(signing.secret ?? secret).sign(id, new Date(at), body),
    },
  }
}

export const completed = (taskIds: ReadonlyArray<string>) => ({
  type: "task_group.completed",
  timestamp: new Date().toISOString(),
  data: { group_id: "group_1", task_ids: taskIds },
})

export interface Answer {
  readonly status: number
  readonly headers: NodeJS.Dict<string | ReadonlyArray<string>>
  readonly body: string
}

/** Sends a request as it is, on a connection of its own. */
export const send = (
  url: string,
  { body = "", headers = {}, method = "POST" }: { body?: string; headers?: Record<string, string>; method?: string },
) =>
  Effect.map(
    exchange({ ...urlToHttpOptions(new URL(url)), method, headers }, body),
    ([{ headers, statusCode = 0 }, bytes]): Answer => ({ status: statusCode, headers, body: bytes.toString() }),
  )

/** Delivers a payload, and gives the status of the answer. */
export const deliver = (url: string, payload: unknown, signing?: Signing) =>
  Effect.map(send(url, signed(payload, signing)), ({ status }) => status)

/** Where a process says that it receives webhooks. */
export const urlOf = ({ talks }: Pick<Running, "talks">) =>
  Effect.map(
    Effect.promise(() => talks(address)),
    (said) => address.exec(said)![1]!,
  )

const address = /^Webhooks are received at (\S+)$/m
