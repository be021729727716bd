/**
 * Requests from a page to its service.
 *
 * Guarantees: a response is a value, never a rejection. Each request has the header that forms of other sites cannot
 * send, goes to the page's own origin, and times out after 30 seconds. Responses are not validated: page and service
 * are built together, from one interface.
 */

export interface Problem {
  /** The HTTP status; 0 where no answer came: no connection, or too slow. */
  readonly status: number
  /** The problem's stable `type` (RFC 9457); "about:blank" where there was none. */
  readonly type: string
  /** One or two sentences to show. */
  readonly detail: string
  /** Seconds, where the service named them. */
  readonly retryAfter: number | null
}

/** What the service said, or why there is nothing. */
export type Answer<A> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly problem: Problem }

export type Method = "GET" | "POST" | "PUT" | "DELETE"

const timeoutMillis = 30_000

/**
 * `base` is the path of the page's interface, such as "/annotate/api"; `A` is what the interface
 * says of the request, `undefined` where it answers with nothing. With `keepalive` the request
 * goes on when the page is left; its body has to be smaller than 64 kB.
 */
export const makeApi =
  (base: string) =>
  <A>(method: Method, path: string, body?: unknown, options?: { readonly keepalive: boolean }): Promise<Answer<A>> => {
    const signal = AbortSignal.timeout(timeoutMillis)
    return fetch(base + path, {
      method,
      headers: { "x-prefstream": "1", ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      keepalive: options?.keepalive ?? false,
      signal,
    })
      .then((response) => response.text().then((text) => answerOf(response, text)))
      .catch(() => unanswered(signal.aborted))
      .then((answer) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- page and service are built together
        return answer as Answer<A>
      })
  }

const notJson = Symbol("not JSON")

const answerOf = (response: Response, text: string): Answer<unknown> => {
  const said = parse(text)
  return response.ok && said !== notJson ? { ok: true, value: said } : { ok: false, problem: problemOf(response, said) }
}

const parse = (text: string): unknown => {
  // A proxy in between may answer with a page of its own.
  try {
    return text === "" ? undefined : JSON.parse(text)
  } catch {
    return notJson
  }
}

const problemOf = (response: Response, said: unknown): Problem => {
  const fields: Record<string, unknown> = typeof said === "object" && said !== null ? { ...said } : {}
  const text = (key: string) => (typeof fields[key] === "string" && fields[key] !== "" ? fields[key] : undefined)
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN)
  return {
    status: response.ok ? 502 : response.status,
    type: text("type") ?? "about:blank",
    detail: text("detail") ?? text("title") ?? `The service answered with status ${response.status}.`,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
  }
}

const unanswered = (slow: boolean): Answer<unknown> => ({
  ok: false,
  problem: {
    status: 0,
    type: "about:blank",
    detail: slow ? "The service takes too long to answer." : "The service cannot be reached.",
    retryAfter: null,
  },
})
