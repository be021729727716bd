/** Sends a page's requests, with a header that a form on another site cannot send. The promises never reject. */

export interface Problem {
  /** The HTTP status. 0 if the connection failed or timed out, and 502 if a successful response is not JSON. */
  readonly status: number
  /** The problem's stable `type` (RFC 9457), or "about:blank" if the problem has none. */
  readonly type: string
  readonly detail: string
  /** Seconds to wait before a retry, from `retry-after`. Null if the response has no such number. */
  readonly retryAfter: number | null
}

export type Answer<A> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly problem: Problem }

/** The types of each request's input and response. Keys are method and path; see `PageClient`. */
type AnyRequests = { readonly [request: string]: { readonly input: unknown; readonly answer: unknown } }

interface Options {
  /** Whether the browser completes the request even if the page is closed. The body is then limited to 64 KiB. */
  readonly keepalive: boolean
}

interface AnyInput {
  readonly params?: { readonly [name: string]: string | number }
  readonly query?: { readonly [name: string]: string | number | undefined }
  readonly payload?: unknown
}

const timeoutMillis = 30_000

/** Formats a query as `?a=1&b=2`. Undefined members are left out. The result is empty if all are undefined. */
export const searchOf = (query: AnyInput["query"] = {}): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? "" : `?${search.toString()}`
}

const urlOf = (base: string, request: string, { params = {}, query }: AnyInput): string => {
  const path = request.slice(request.indexOf(" ") + 1)
  return base + path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(String(params[name]))) + searchOf(query)
}

export const makeClient = <R extends AnyRequests>(base: string, onSignedOut = () => {}) => {
  const ask = <K extends keyof R & string>(
    request: K,
    ...[input, options]: object extends R[K]["input"]
      ? [input?: R[K]["input"], options?: Options]
      : [input: R[K]["input"], options?: Options]
  ): Promise<Answer<R[K]["answer"]>> => {
    const anyInput = (input ?? {}) as AnyInput
    const { payload } = anyInput
    const signal = AbortSignal.timeout(timeoutMillis)
    return fetch(urlOf(base, request, anyInput), {
      method: request.slice(0, request.indexOf(" ")),
      headers: { "x-prefstream": "1", ...(payload === undefined ? {} : { "content-type": "application/json" }) },
      ...(payload === undefined ? {} : { body: JSON.stringify(payload) }),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      keepalive: options?.keepalive ?? false,
      signal,
    })
      .then((response) => response.text().then((text) => answerOf(response, text)))
      .catch(() => unanswered(signal.aborted))
      .then((answer) => {
        if (!answer.ok && answer.problem.status === 401) onSignedOut()
        return answer
      })
  }
  const addressOf = <K extends keyof R & `GET ${string}`>(request: K, input: R[K]["input"]): string => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each request's input has this shape
    return urlOf(base, request, input as AnyInput)
  }
  return { ask, addressOf }
}

const notJson = Symbol("not JSON")

const answerOf = (response: Response, text: string): Answer<unknown> => {
  const body = parse(text)
  return response.ok && body !== notJson ? { ok: true, value: body } : { ok: false, problem: problemOf(response, body) }
}

const parse = (text: string): unknown => {
  // `JSON.parse` throws if the text is not JSON. For example, a proxy may answer with its own HTML page.
  try {
    return text === "" ? undefined : JSON.parse(text)
  } catch {
    return notJson
  }
}

const problemOf = (response: Response, body: unknown): Problem => {
  const fields: Record<string, unknown> = typeof body === "object" && body !== null ? { ...body } : {}
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
