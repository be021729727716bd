/** Classifies failed HTTP requests by status, or by an error code in the chain of causes, never by a message. */

const kinds = {
  401: "unauthorized",
  // `blocked`: the service, or a proxy in front of it, refuses every request.
  402: "blocked",
  403: "unauthorized",
  404: "notFound",
  405: "wrongAddress",
  407: "blocked",
  408: "timeout",
  // An earlier request with the same idempotency key has not ended, or another client has changed the same data.
  409: "conflict",
  410: "notFound",
  413: "tooLarge",
  // Like 429, this status means that the service did not carry out the request.
  425: "tooEarly",
  426: "blocked",
  429: "rateLimited",
} as const

export type Kind = (typeof kinds)[keyof typeof kinds] | "rejected" | "serverError"

const listed: { readonly [status: number]: Kind } = kinds

export const kindOf = (status: number): Kind =>
  listed[status] ?? (status < 400 ? "wrongAddress" : status < 500 ? "rejected" : "serverError")

export const isTransient = (kind: Kind): boolean =>
  kind === "timeout" || kind === "conflict" || kind === "tooEarly" || kind === "rateLimited" || kind === "serverError"

export const causes = (error: unknown): ReadonlyArray<object> => {
  const chain: Array<object> = []
  for (let at = error; typeof at === "object" && at !== null && !chain.includes(at);) {
    chain.push(at)
    if ("errors" in at && Array.isArray(at.errors))
      chain.push(...at.errors.filter((inner) => typeof inner === "object"))
    at = "cause" in at ? at.cause : "reason" in at ? at.reason : undefined
  }
  return chain
}

export const codesOf = (chain: ReadonlyArray<object>): ReadonlyArray<string> =>
  chain.flatMap((cause) => ("code" in cause && typeof cause.code === "string" ? [cause.code] : []))

export const isInsecure = (code: string): boolean =>
  /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|EPROTO)/.test(code)

export const isUnsent = (code: string): boolean =>
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(code) || isInsecure(code)

export const isUnsendable = (code: string): boolean =>
  /^(UND_ERR_INVALID_ARG|ERR_INVALID_CHAR|ERR_INVALID_URL|ERR_HTTP_INVALID)/.test(code)

export const descriptions: { readonly [code: string]: string } = {
  EAI_AGAIN: "the host name could not be resolved",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was lost",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  ENOTFOUND: "unknown host name",
  EPIPE: "the connection was lost",
  ETIMEDOUT: "no answer within the time limit",
  UND_ERR_BODY_TIMEOUT: "no answer within the time limit",
  UND_ERR_CONNECT_TIMEOUT: "no connection within the time limit",
  UND_ERR_HEADERS_TIMEOUT: "no answer within the time limit",
  UND_ERR_SOCKET: "the connection was lost",
}
