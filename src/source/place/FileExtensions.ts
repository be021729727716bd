/** The file extensions of formats and compressions. */
export const formatNames = ["jsonl", "json", "csv", "tsv", "parquet"] as const
export type FormatName = (typeof formatNames)[number]

const compression = /\.(?:gz|gzip|zst|zstd|br)$/i

export const isCompressed = (name: string): boolean => compression.test(name)

export const withoutCompression = (name: string): string => name.replace(compression, "")

export const formatOf = (file: string): FormatName | undefined => {
  const extension = /\.([a-z]+)$/i.exec(withoutCompression(file))?.[1]?.toLowerCase()
  if (extension === "tab") return "tsv"
  if (extension === "ndjson" || extension === "jsonlines") return "jsonl"
  return formatNames.find((name) => name === extension)
}
