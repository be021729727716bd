/**
 * An HTTP proxy that disturbs what passes through it, one fault per function: for what
 * networks, gateways and overloaded services do between a client and its annotation service.
 *
 * What happens to a request is drawn from the seed, from what is asked, and from how often it
 * was asked before; so the same seed disturbs the same task in the same way, whatever else is
 * under way. A request is disturbed at most `mostInARow` times before it passes. Bursts of
 * refusals and outages come at ordinals that are drawn from the seed, and hit whoever is there.
 *
 * By hand: `node --conditions=prefstream-source test/faults/fixtures/proxy.ts http://127.0.0.1:8484`.
 */
import { createHash } from "node:crypto"
import { Agent, createServer, type IncomingHttpHeaders, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { bodyOf } from "./listening.ts"

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Exchange {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly response: ServerResponse
  /** Asks the service, once however often it is called. */
  readonly forward: () => Promise<Answer>
  /** A number from the seed: the same for the same request, name and time that it is asked. */
  readonly draw: (name: string) => number
}

/** What is done with a request instead of passing it on as it is. */
type Fault = (exchange: Exchange) => Promise<void>

/** Sends an answer whole. */
const send = ({ response }: Exchange, { body, headers, status }: Answer) => {
  const { connection: _, "transfer-encoding": __, ...kept } = headers
  response.writeHead(status, { ...kept, "content-length": body.length })
  response.end(body)
}

const refuse = (exchange: Exchange, status: number, headers: IncomingHttpHeaders = {}) =>
  send(exchange, {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
    body: Buffer.from(JSON.stringify({ type: "about:blank", status, title: `a fault: ${status}` })),
  })

/** Breaks the connection off, so that the client sees ECONNRESET. */
const reset = ({ response }: Pick<Exchange, "response">) => void response.socket?.resetAndDestroy()

const between = (least: number, most: number, drawn: number) => least + (most - least) * drawn

const page = "<!doctype html><title>Sign in</title><p>Please sign in to the network of this house."

/** Sends the first half of an answer's body under the given length. */
const half = async (exchange: Exchange, length: "of the whole" | "of the half") => {
  const { body, headers, status } = await exchange.forward()
  const { connection: _, "transfer-encoding": __, ...kept } = headers
  const sent = body.subarray(0, Math.floor(body.length / 2))
  const announced = length === "of the whole" ? body.length : sent.length
  exchange.response.writeHead(status, { ...kept, "content-length": announced })
  await new Promise((done) => exchange.response.write(sent, done))
}

const pass: Fault = async (exchange) => send(exchange, await exchange.forward())

/** What can be done to one request. Where a fault's name does not say so, the service is not asked. */
export const faults = {
  /** The connection breaks before the service is asked. */
  resetBefore: async (exchange) => reset(exchange),
  /** The service is asked, and the connection breaks before its answer. */
  resetAfterwards: async (exchange) => {
    await exchange.forward()
    reset(exchange)
  },
  /** The request arrives late. */
  slowRequest: async (exchange) => {
    await sleep(between(20, 400, exchange.draw("slow")))
    await pass(exchange)
  },
  /** Neither an answer nor an end: the client has to give up by itself. The service is asked, or not. */
  silence: async (exchange) => {
    if (exchange.draw("asked") < 0.5) await exchange.forward()
  },
  /** The answer comes a few bytes at a time. */
  trickledAnswer: async (exchange) => {
    const { body, headers, status } = await exchange.forward()
    const { connection: _, "transfer-encoding": __, "content-length": ___, ...kept } = headers
    exchange.response.writeHead(status, kept)
    const step = Math.ceil(body.length / 8)
    for (let at = 0; at < body.length; at += step) {
      exchange.response.write(body.subarray(at, at + step))
      await sleep(between(5, 40, exchange.draw(`trickle ${at}`)))
    }
    exchange.response.end()
  },
  /** 500, although the service has done what was asked. */
  serverErrorAfterwards: async (exchange) => {
    await exchange.forward()
    refuse(exchange, 500)
  },
  /** A gateway that lost the service's answer, and says so in HTML. */
  badGatewayAfterwards: async (exchange) => {
    await exchange.forward()
    send(exchange, { status: 502, headers: { "content-type": "text/html" }, body: Buffer.from(page) })
  },
  serverError: async (exchange) => refuse(exchange, 500),
  /** The body ends, with the connection, before the length that was announced. */
  truncatedAfterwards: async (exchange) => {
    await half(exchange, "of the whole")
    reset(exchange)
  },
  /** Half of the JSON, as if it were all. */
  halfJsonAfterwards: async (exchange) => {
    await half(exchange, "of the half")
    exchange.response.end()
  },
  /** 200 with a page that no service wrote. */
  htmlPage: async (exchange) =>
    send(exchange, { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body: Buffer.from(page) }),
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof faults

export const faultNames = Object.keys(faults) as ReadonlyArray<FaultName>

/** After these a client can't know that the service has not taken the request. */
export const doubtful: ReadonlySet<string> = new Set<FaultName>([
  "resetBefore", "resetAfterwards", "silence", "serverErrorAfterwards", "badGatewayAfterwards", "serverError",
  "truncatedAfterwards", "halfJsonAfterwards", "htmlPage",
]) // prettier-ignore

/** How a service says, for a while and to everyone, that it is asked too much; in turn. The service is not asked. */
const bursts = {
  tooManyForASecond: (exchange) => refuse(exchange, 429, { "retry-after": "1" }),
  tooManyUntil: (exchange) =>
    refuse(exchange, 429, { "retry-after": new Date(Math.ceil(Date.now() / 1000) * 1000).toUTCString() }),
  tooMany: (exchange) => refuse(exchange, 429),
  unavailableForASecond: (exchange) => refuse(exchange, 503, { "retry-after": "1" }),
} as const satisfies Record<string, (exchange: Exchange) => void>

export type BurstName = keyof typeof bursts

export const burstNames = Object.keys(bursts) as ReadonlyArray<BurstName>

export interface FaultOptions {
  readonly seed: string
  /** The share of requests that meet each fault. */
  readonly rates?: Partial<Record<FaultName, number>>
  /** Times that the same thing is disturbed, one after another, before it passes. Default 3. */
  readonly mostInARow?: number
  /** Requests from the start of one burst of refusals to the next, on average. None by default. */
  readonly burstEvery?: number
  /** Which bursts, in turn. All by default. */
  readonly bursts?: ReadonlyArray<BurstName>
  /** Requests from one outage to the next, on average. None by default. */
  readonly outageEvery?: number
  /** Outages at most. Default 3. */
  readonly mostOutages?: number
  /** Told of each request, and what befell it. */
  readonly tell?: (seen: Seen) => void
}

/** One request, and what was done with it. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly key: string | undefined
  readonly fault: FaultName | BurstName | "pass"
  /** The status that the service answered with; undefined where it was not asked, or gave no answer. */
  answered: number | undefined
}

export interface FaultProxy {
  readonly origin: string
  readonly seen: ReadonlyArray<Seen>
  readonly outages: () => number
  /** How often each fault befell requests of a method. */
  readonly count: (fault: Seen["fault"], method?: string) => number
  /** Refuses every connection for a time. */
  readonly breakDown: (millis: number) => Promise<void>
}

const longestBurst = 1_000
const mostInBurst = 40

/** A number from 0 to below 1, from texts. */
export const drawn = (...from: ReadonlyArray<string | number>): number =>
  createHash("sha256").update(JSON.stringify(from)).digest().readUInt32BE() / 2 ** 32

/** Starts a proxy before the service at `target`, an origin such as `http://127.0.0.1:8484`. */
export const start = async (target: string, options: FaultOptions) => {
  const {
    burstEvery = Infinity,
    bursts: burstsInTurn = burstNames,
    mostInARow = 3,
    mostOutages = 3,
    outageEvery = Infinity,
    rates = {},
    seed,
    tell,
  } = options
  const upstream = new URL(target)
  const agent = new Agent({ keepAlive: true })
  const seen: Array<Seen> = []
  const times = new Map<string, { asked: number; disturbed: number }>()
  const closing = new AbortController()
  let nextBurst = burstEvery * between(0.3, 0.7, drawn(seed, "burst"))
  let burstsSoFar = 0
  let burst = { until: 0, left: 0 }
  let nextOutage = outageEvery * between(0.3, 0.7, drawn(seed, "outage"))
  let outages = 0

  const ask = (exchange: Omit<Exchange, "forward" | "draw" | "response">) =>
    new Promise<Answer>((resolve, reject) => {
      const { connection: _, "transfer-encoding": __, ...headers } = exchange.headers
      const outgoing = request(
        {
          agent,
          host: upstream.hostname,
          port: upstream.port,
          method: exchange.method,
          path: exchange.path,
          headers: { ...headers, host: upstream.host },
        },
        (answer) =>
          void bodyOf(answer).then(
            (body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }),
            reject,
          ),
      )
      outgoing.on("error", reject)
      outgoing.end(exchange.body)
    })

  /** Which fault befalls what is asked for the nth time. */
  const choose = (what: string): FaultName | "pass" => {
    const { asked, disturbed } = times.get(what) ?? { asked: 0, disturbed: 0 }
    let left = drawn(seed, what, asked)
    const fault =
      disturbed >= mostInARow
        ? undefined
        : faultNames.find((name) => {
            left -= rates[name] ?? 0
            return left < 0
          })
    times.set(what, { asked: asked + 1, disturbed: fault === undefined ? 0 : disturbed + 1 })
    return fault ?? "pass"
  }

  const burstNow = (): BurstName | undefined => {
    if (seen.length >= nextBurst) {
      nextBurst += burstEvery * between(0.7, 1.3, drawn(seed, "burst", ++burstsSoFar))
      burst = { until: performance.now() + longestBurst, left: mostInBurst }
    }
    const isOn = performance.now() < burst.until && burst.left-- > 0
    return isOn ? burstsInTurn[burstsSoFar % burstsInTurn.length] : undefined
  }

  // Idle connections are kept for longer than any test: one that breaks off has met a fault.
  const server = createServer({ keepAliveTimeout: 300_000 }, (incoming, response) => {
    const { headers, method = "", url: path = "" } = incoming
    const handle = async () => {
      const body = await bodyOf(incoming)
      const key = headers["idempotency-key"]?.toString()
      const what = `${method} ${path} ${key ?? ""}`
      const inBurst = burstNow()
      const fault = inBurst ?? choose(what)
      const entry: Seen = { method, path, key, fault, answered: undefined }
      seen.push(entry)
      tell?.(entry)
      if (seen.length >= nextOutage && outages < mostOutages) {
        nextOutage = seen.length + outageEvery * between(0.7, 1.3, drawn(seed, "outage", outages))
        void breakDown(between(1_000, 2_000, drawn(seed, "length of outage", outages)))
      }
      let asked: Promise<Answer> | undefined
      const asking = { method, path, headers, body }
      const exchange: Exchange = {
        ...asking,
        response,
        draw: (name) => drawn(seed, what, times.get(what)?.asked ?? 0, name),
        forward: () =>
          (asked ??= ask(asking).then((answer) => {
            entry.answered = answer.status
            return answer
          })),
      }
      if (inBurst !== undefined) return bursts[inBurst](exchange)
      return await (fault === "pass" ? pass : faults[fault as FaultName])(exchange)
    }
    // A service that is gone, or a client that has left: the connection breaks, as it does without a proxy.
    handle().catch(() => reset({ response }))
  })

  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject)
      server.listen(port, "127.0.0.1", () => {
        server.off("error", reject)
        resolve()
      })
    })
  await listen(0)
  const { port } = server.address() as AddressInfo

  const breakDown = async (millis: number) => {
    if (!server.listening) return
    outages++
    server.close()
    server.closeAllConnections()
    await sleep(millis, undefined, { signal: closing.signal }).catch(() => undefined)
    // Another program may have taken the port meanwhile.
    while (!closing.signal.aborted && !server.listening) {
      await listen(port).catch(() => sleep(20, undefined, { signal: closing.signal }).catch(() => undefined))
    }
  }

  const stop = async () => {
    closing.abort()
    agent.destroy()
    server.closeAllConnections()
    if (server.listening) await new Promise((done) => server.close(done))
  }

  const proxy: FaultProxy = {
    origin: `http://127.0.0.1:${port}`,
    seen,
    outages: () => outages,
    count: (fault, method) =>
      seen.filter((one) => one.fault === fault && (method === undefined || one.method === method)).length,
    breakDown,
  }
  return { ...proxy, stop }
}

/** The same for the time of a scope. */
export const make = (target: string, options: FaultOptions) =>
  Effect.acquireRelease(
    Effect.promise(() => start(target, options)),
    ({ stop }) => Effect.promise(stop),
  )
