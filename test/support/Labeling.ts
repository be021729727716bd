/**
 * A service of another shape than the contract's, as `pipelines/own-service.ts` speaks to it: a job is an upsert, an order
 * of it is paid for, and its answers come by pages of seven, without any text. Its answer is always the shortest option.
 * Every third request is refused with 429, every order is open when it is first asked for. Of one order it can be told to
 * create it, and never to answer; the answer to the first upsert gets lost.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect } from "effect"
import { bodyOf, listening } from "./listening.ts"

interface Question {
  readonly text: string
  readonly options: ReadonlyArray<string>
}

interface Order {
  readonly name: string
  readonly key: unknown
  readonly questions: ReadonlyArray<Question>
  asked: number
}

export const apiKey = "labeling-key"

const pageSize = 7

const shortest = ({ options }: Question) =>
  options.reduce((best, option, i) => (option.length < options[best]!.length ? i : best), 0)

/** @param unanswered the order, from 0, of whose creation the service tells nobody */
export const make = Effect.fnUntraced(function* (unanswered?: number) {
  const jobs = new Map<string, ReadonlyArray<Question>>()
  const orders: Array<Order> = []
  let requests = 0
  let refusals = 0
  let upserts = 0
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const send = (status: number, body: unknown) =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    const text = (await bodyOf(request)).toString()
    if (request.headers["x-api-key"] !== apiKey) return send(401, { error: "no key" })
    if (++requests % 3 === 0) {
      refusals++
      return send(429, { error: "busy" })
    }
    const url = new URL(request.url!, "http://labeling")
    const [, kind, name = "", what] = url.pathname.split("/")
    if (request.method === "PUT" && kind === "jobs") {
      jobs.set(name, (JSON.parse(text) as { questions: ReadonlyArray<Question> }).questions)
      return upserts++ === 0 ? void request.socket.destroy() : send(200, {})
    }
    if (request.method === "POST" && what === "orders" && jobs.has(name)) {
      const number =
        orders.push({ name, key: request.headers["idempotency-key"], questions: jobs.get(name)!, asked: 0 }) - 1
      return number === unanswered ? undefined : send(201, { order: { number } })
    }
    const order = orders[Number(name)]
    if (kind !== "orders" || order === undefined) return send(404, { error: "no such order" })
    if (what !== "answers") return send(200, { phase: order.asked++ > 0 ? "FINISHED" : "WORKING" })
    const page = Number(url.searchParams.get("page"))
    const answers = order.questions
      .map((question, i) => ({ question: i, option: shortest(question), comment: "The shortest." }))
      .toReversed()
      .slice(page * pageSize, (page + 1) * pageSize)
    return send(200, { answers, more: (page + 1) * pageSize < order.questions.length })
  }
  const { origin } = yield* listening((request, response) => void handle(request, response))
  return {
    url: origin,
    orders: (): ReadonlyArray<Order> => orders,
    refusals: () => refusals,
  }
})
