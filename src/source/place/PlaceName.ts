/** Classifies and describes file names: local, standard input, HTTP, S3, Google Cloud Storage, Hugging Face Hub. */
export type Kind = "local" | "standard input" | "http" | "s3" | "gs" | "hf" | "unknown"

export const kindOf = (name: string): Kind => {
  if (standardInputNames.has(name)) return "standard input"
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(name) ?? []
  if (scheme === undefined) return "local"
  if (/^https?$/i.test(scheme)) return "http"
  return schemes.find((name) => name === scheme.toLowerCase()) ?? "unknown"
}

const schemes = ["s3", "gs", "hf"] as const

export const isPattern = (text: string): boolean => /[*?[{]/.test(text)

export const describe = (name: string): string => {
  const kind = kindOf(name)
  if (kind === "standard input") return kind
  if (kind !== "http" && kind !== "unknown") return name
  return name.replace(/[?#].*$/s, "").replace(/^([^/]*\/\/)[^/]*@/, "$1")
}

export const describeAll = (names: ReadonlyArray<string>, inputs = "inputs"): string =>
  names.length === 1 && typeof names[0] === "string" ? describe(names[0]) : `${names.length} ${inputs}`

const standardInputNames: ReadonlySet<string> = new Set(["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])

export const unknownPlace =
  "expected a path, a URL with http://, https://, s3://, gs://, or hf://, or - for standard input"
