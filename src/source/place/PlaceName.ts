/** Classifies and describes file names: local, standard input, HTTP, S3. */
export type Kind = "local" | "standard input" | "http" | "s3" | "unknown"

/** `unknown` is a URL of another scheme. What has no scheme is a path. */
export const kindOf = (name: string): Kind => {
  if (standardInputNames.has(name)) return "standard input"
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(name) ?? []
  if (scheme === undefined) return "local"
  return kinds.get(scheme.toLowerCase()) ?? "unknown"
}

/** The name in messages, rejects, the ledger and datasets: URLs lose user, query and fragment, which may be secrets. */
export const describe = (name: string): string => {
  if (kindOf(name) === "standard input") return "standard input"
  if (kindOf(name) === "local") return name
  return name.replace(/[?#].*$/s, "").replace(/^([^/]*\/\/)[^/]*@/, "$1")
}

const standardInputNames: ReadonlySet<string> = new Set(["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])

const kinds: ReadonlyMap<string, Kind> = new Map([
  ["http", "http"],
  ["https", "http"],
  ["s3", "s3"],
])

/** What is wrong with a name of an unknown kind. */
export const unknownPlace =
  "files are read by their path, from http://, https:// and s3://, and from standard input (-)"
