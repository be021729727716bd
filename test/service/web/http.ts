/** People at the service's pages: what a browser sends, and what it keeps. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { exchange } from "../../support/listening.ts"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly cookies: ReadonlyArray<string>
  readonly bytes: Buffer
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

export interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  /** Sent as JSON; text is sent as it is. */
  readonly body?: unknown
}

/** One request, as it is: no header is added, no redirect followed, the path is not normalized. */
export const raw = Effect.fnUntraced(function* (
  base: string,
  path: string,
  { body, headers = {}, method = "GET" }: Sent = {},
) {
  const { hostname: host, port } = new URL(base)
  const content = body === undefined || typeof body === "string" ? body : JSON.stringify(body)
  // Not left to Node, which sends the body of a DELETE without its length.
  const length = content === undefined ? {} : { "content-length": String(Buffer.byteLength(content)) }
  const options = { host, port, path, method, headers: { ...length, ...headers } }
  const [{ headers: all, statusCode: status = 0 }, bytes] = yield* Effect.orDie(exchange(options, content))
  const text = bytes.toString()
  const { "set-cookie": cookies = [], ...single } = all
  const isJson = /[/+]json/.test(single["content-type"] ?? "")
  const json = isJson && text !== "" ? JSON.parse(text) : undefined
  return { status, headers: single as Answer["headers"], cookies, bytes, text, json } satisfies Answer
})

/** A browser at one of the service's pages: it keeps cookies, and says where it comes from. */
export const browser = (base: string, origin = base) => {
  const cookies = new Map<string, string>()
  const ask = Effect.fnUntraced(function* (method: string, path: string, body?: unknown, more: Sent["headers"] = {}) {
    const headers: Record<string, string> = {
      host: new URL(base).host,
      origin,
      "sec-fetch-site": "same-origin",
      "x-prefstream": "1",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(cookies.size > 0 && { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") }),
      ...more,
    }
    const answer = yield* raw(base, path, { method, headers, body })
    for (const cookie of answer.cookies) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (/max-age=0/i.test(cookie)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  })
  return { cookies, ask }
}
export type Browser = ReturnType<typeof browser>

export const assertProblem = (answer: Omit<Answer, "bytes" | "cookies">, status: number, name: string) => {
  assert.deepStrictEqual([answer.status, answer.json?.status], [status, status], answer.text)
  assert.strictEqual(answer.headers["content-type"], "application/problem+json")
  assert.strictEqual(answer.json.type, `tag:prefstream,2026:${name}`)
  assert.isString(answer.json.detail)
}
