/** Finds the format and compression of a file by its extension, and decides which files are data files. */
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

export const isDataFile = (name: string): boolean =>
  /^[^._]/.test(name) && !descriptions.includes(name) && formatOf(name) !== undefined

const descriptions = ["dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"]
