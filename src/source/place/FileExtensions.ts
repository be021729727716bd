/** The file extensions of formats and compressions. */
export const formatNames = ["jsonl", "json", "csv", "tsv", "parquet"] as const
export type FormatName = (typeof formatNames)[number]

const formats: ReadonlyMap<string, FormatName> = new Map<string, FormatName>([
  ["jsonl", "jsonl"],
  ["ndjson", "jsonl"],
  ["jsonlines", "jsonl"],
  ["json", "json"],
  ["csv", "csv"],
  ["tsv", "tsv"],
  ["tab", "tsv"],
  ["parquet", "parquet"],
])

const compression = /\.(?:gz|gzip|zst|zstd|br)$/i

export const isCompressed = (name: string): boolean => compression.test(name)

export const withoutCompression = (name: string): string => name.replace(compression, "")

export const formatOf = (name: string): FormatName | undefined => {
  const [, ending] = /\.([a-z]+)$/i.exec(withoutCompression(name)) ?? []
  return ending === undefined ? undefined : formats.get(ending.toLowerCase())
}
