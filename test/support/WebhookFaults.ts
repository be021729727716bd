/**
 * What can befall webhook deliveries between a service and whoever receives them: a server that
 * takes them for the receiver, and loses, repeats, holds back and reorders them, and sends forged
 * ones of its own. One fault, and one forgery, per function.
 *
 * What happens to a delivery is drawn from the seed, its body and how often it came.
 */
import type { IncomingHttpHeaders, ServerResponse } from "node:http"
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { drawn } from "./FaultProxy.ts"
import { bodyOf, listen } from "./listening.ts"
import { otherSecret, signed } from "./webhooks.ts"

export interface Delivery {
  readonly headers: Record<string, string>
  readonly body: string
}

interface Passing {
  readonly delivery: Delivery
  readonly response: ServerResponse
  /** The receiver's status. */
  readonly deliver: (delivery?: Delivery) => Promise<number>
  readonly holdBack: () => void
  readonly draw: number
}

type Fault = (passing: Passing) => Promise<unknown>

const answer = ({ response }: Passing, status: number) => void response.writeHead(status).end()

const deliveryFaults = {
  /** The service hears that it arrived; it never does. */
  dropped: async (passing) => answer(passing, 204),
  duplicated: async (passing) => {
    const statuses = await Promise.all([passing.deliver(), passing.deliver(), passing.deliver()])
    answer(passing, statuses[0])
  },
  /** Delivered after others that came later, the last of them first. */
  reordered: async (passing) => {
    passing.holdBack()
    answer(passing, 204)
  },
  delayed: async (passing) => {
    await sleep(20 + 400 * passing.draw)
    answer(passing, await passing.deliver())
  },
  /** The receiver has taken it, and the service does not hear of that: it sends it again. */
  unacknowledged: async (passing) => {
    await passing.deliver()
    passing.response.socket?.resetAndDestroy()
  },
  /** It did not get through; the service sends it again. */
  refused: async (passing) => answer(passing, 502),
} as const satisfies Record<string, Fault>

export type DeliveryFault = keyof typeof deliveryFaults
export const deliveryFaultNames = Object.keys(deliveryFaults) as ReadonlyArray<DeliveryFault>

/** The id that forged deliveries name beside those of the genuine one. */
export const forgedTask = "task_forged"

const naming = (body: string): string => body.replace('"task_ids":[', `"task_ids":["${forgedTask}",`)

/** What an attacker sends who sees a genuine delivery; `secret` is what only the service and the receiver know. */
const forgeries = {
  tampered: ({ body, headers }) => ({ headers, body: naming(body) }),
  wrongSignature: ({ body, headers }) => ({
    body,
    headers: { ...headers, "webhook-signature": `v1,${Buffer.alloc(32, 7).toString("base64")}` },
  }),
  wrongSecret: ({ body, headers }) =>
    signed(naming(body), { id: `forged_${headers["webhook-id"]}`, secret: otherSecret }),
  unsigned: ({ body }) => ({ body: naming(body), headers: { "content-type": "application/json" } }),
  /** Genuine, and caught ten minutes ago. */
  old: ({ body, headers }, secret) =>
    signed(naming(body), { id: `old_${headers["webhook-id"]}`, at: Date.now() - 600_000, secret }),
  /** A genuine one that is said to be of another time. */
  redated: ({ body, headers }) => ({
    body,
    headers: { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) - 7) },
  }),
} as const satisfies Record<string, (genuine: Delivery, secret: string) => Delivery>

export type Forgery = keyof typeof forgeries
export const forgeryNames = Object.keys(forgeries) as ReadonlyArray<Forgery>

export interface WebhookFaultOptions {
  readonly seed: string
  /** The share of deliveries that meet each fault. */
  readonly rates?: Partial<Record<DeliveryFault, number>>
  /** The share of deliveries that are accompanied by a forged one. */
  readonly forged?: number
  /** How many are held back together to be reordered. Default 5. */
  readonly heldTogether?: number
}

export interface Taken {
  readonly delivery: Delivery
  readonly fault: DeliveryFault | "pass"
}

export interface WebhookFaults {
  /** Where the service is to send its webhooks. */
  readonly url: string
  /** Where they are received, and the secret they are signed with; until it is set all of them are refused. */
  receiver: { readonly url: string; readonly secret: string } | undefined
  readonly taken: ReadonlyArray<Taken>
  /** The receiver's status for each forged delivery. */
  readonly forged: ReadonlyArray<{ readonly forgery: Forgery; readonly status: number }>
  readonly count: (fault: Taken["fault"]) => number
}

const genuine = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith("webhook-") || name === "content-type" ? [[name, String(value)]] : [],
    ),
  )

const post = async (url: string, { body, headers }: Delivery): Promise<number> => {
  const answer = await fetch(url, { method: "POST", headers, body })
  await answer.arrayBuffer()
  return answer.status
}

const start = async ({ forged: share = 0, heldTogether = 5, rates = {}, seed }: WebhookFaultOptions) => {
  const taken: Array<Taken> = []
  const forged: Array<{ forgery: Forgery; status: number }> = []
  const times = new Map<string, number>()
  let held: Array<Delivery> = []

  const choose = (what: string): DeliveryFault | "pass" => {
    let left = drawn(seed, what)
    return (
      deliveryFaultNames.find((name) => {
        left -= rates[name] ?? 0
        return left < 0
      }) ?? "pass"
    )
  }

  const forge = async (delivery: Delivery, to: NonNullable<WebhookFaults["receiver"]>) => {
    const forgery = forgeryNames[forged.length % forgeryNames.length]!
    const entry = { forgery, status: 0 }
    forged.push(entry)
    entry.status = await post(to.url, forgeries[forgery](delivery, to.secret))
  }

  const { close, origin } = await listen((incoming, response) => {
    const handle = async () => {
      const delivery = { headers: genuine(incoming.headers), body: (await bodyOf(incoming)).toString() }
      const { receiver: to } = self
      if (to === undefined) {
        response.writeHead(503).end()
        return
      }
      const { data } = JSON.parse(delivery.body) as { data: unknown }
      const name = JSON.stringify(data)
      const attempt = times.get(name) ?? 0
      times.set(name, attempt + 1)
      const fault = choose(`${name} ${attempt}`)
      taken.push({ delivery, fault })
      // Before the genuine one, so that a forged one that counted would make that look like a repetition.
      if (drawn(seed, name, attempt, "forged") < share) await forge(delivery, to)
      const passing: Passing = {
        delivery,
        response,
        deliver: (other = delivery) => post(to.url, other),
        holdBack: () => held.unshift(delivery),
        draw: drawn(seed, name, attempt, "delay"),
      }
      if (fault === "pass") answer(passing, await passing.deliver())
      else await deliveryFaults[fault](passing)
      if (held.length < heldTogether) return
      const late = held
      held = []
      for (const one of late) await passing.deliver(one)
    }
    handle().catch(() => response.socket?.destroy())
  })
  const self: WebhookFaults = {
    url: `${origin}/hook`,
    receiver: undefined,
    taken,
    forged,
    count: (fault) => taken.filter((one) => one.fault === fault).length,
  }
  return { self, close }
}

/** Takes deliveries for the time of a scope. */
export const make = (options: WebhookFaultOptions) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => start(options)),
      ({ close }) => Effect.promise(close),
    ),
    ({ self }) => self,
  )
