/** Classifies and describes file names: local, standard input, HTTP, S3. */
export type Kind = "local" | "standard input" | "http" | "s3" | "unknown"

/** A URL with another scheme is `unknown`. A name without a scheme is a path. */
export const kindOf = (name: string): Kind => {
  if (standardInputNames.has(name)) return "standard input"
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(name) ?? []
  if (scheme === undefined) return "local"
  if (/^https?$/i.test(scheme)) return "http"
  return /^s3$/i.test(scheme) ? "s3" : "unknown"
}

/** Returns the name for messages, rejects, the ledger, and datasets, without the secret parts of a URL. */
export const describe = (name: string): string => {
  if (kindOf(name) === "standard input") return "standard input"
  if (kindOf(name) === "local") return name
  return name.replace(/[?#].*$/s, "").replace(/^([^/]*\/\/)[^/]*@/, "$1")
}

export const describeAll = (names: ReadonlyArray<string>, inputs = "inputs"): string =>
  names.length === 1 ? describe(names[0]!) : `${names.length} ${inputs}`

const standardInputNames: ReadonlySet<string> = new Set(["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])

export const unknownPlace = "expected a path, a URL with http://, https://, or s3://, or - for standard input"
