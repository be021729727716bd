/**
 * Why a request got no answer: by the error codes of Node and undici among the causes of its error, never by a message's text.
 */

/** An error and its causes, innermost last. */
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

/** The codes among these causes. */
export const codesOf = (chain: ReadonlyArray<object>): ReadonlyArray<string> =>
  chain.flatMap((cause) => ("code" in cause && typeof cause.code === "string" ? [cause.code] : []))

/** Certificates that are not accepted, and receivers that do not speak TLS. */
export const isInsecure = (code: string): boolean =>
  /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|EPROTO)/.test(code)

export const descriptions: { readonly [code: string]: string } = {
  EAI_AGAIN: "the host's name could not be resolved",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection broke off",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  ENOTFOUND: "the host's name is not known",
  EPIPE: "the connection broke off",
  ETIMEDOUT: "no answer in time",
  UND_ERR_BODY_TIMEOUT: "no answer in time",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_HEADERS_TIMEOUT: "no answer in time",
  UND_ERR_SOCKET: "the connection broke off",
}
