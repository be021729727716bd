/** All pairs of an item are in one shard. A shard ends after the item that fills it. */
import type { Split } from "../domain/Split.ts"
import * as OutputFile from "../node/OutputFile.ts"
import { type EncodedRow, Text } from "./file/EncodedRow.ts"
import type { Features } from "./file/Features.ts"
import * as Jsonl from "./file/Jsonl.ts"
import * as Parquet from "./file/Parquet.ts"
import type { RowWriter } from "./file/RowWriter.ts"
import type { DatasetFile } from "./Manifest.ts"

export interface OutputFiles {
  readonly rows: number
  readonly bytes: number
  readonly files: ReadonlyArray<DatasetFile>
}

const folders = ["data", "jsonl"] as const
type Folder = (typeof folders)[number]

const endings: { readonly [Name in Folder]: string } = { data: "parquet", jsonl: "jsonl" }

export const pathOf = (folder: Folder, split: Split, index: number, total: number): string =>
  `${folder}/${split}-${number(index)}-of-${number(total)}.${endings[folder]}`

const number = (n: number) => String(n).padStart(5, "0")

interface Shard {
  readonly writers: ReadonlyArray<readonly [Folder, RowWriter]>
  size: number
}

export const make = (
  directory: string,
  split: Split,
  { features, shardBytes }: { readonly features: Features; readonly shardBytes: number },
) => {
  let shard: Shard | undefined
  const leading = Jsonl.leadingLines(features)
  let lastItem: unknown
  let shards = 0
  const done: Array<{
    readonly folder: Folder
    readonly index: number
    readonly file: DatasetFile & { readonly rows: number }
  }> = []
  let rows = 0
  let bytes = 0

  const open = (): Shard => {
    const writers = folders.map((folder) => {
      const file = OutputFile.create(directory, pathOf(folder, split, shards, 1))
      return [folder, folder === "data" ? Parquet.make(file, features) : Jsonl.make(file, features, leading)] as const
    })
    shards++
    return { writers, size: 0 }
  }

  const end = () => {
    const index = shards - 1
    for (const [folder, writer] of shard?.writers ?? []) {
      done.push({ folder, index, file: { path: pathOf(folder, split, index, 1), ...writer.finish() } })
    }
    shard = undefined
  }

  return {
    write: (row: EncodedRow) => {
      const item = itemOf(row)
      if (shard !== undefined && shard.size >= shardBytes && item !== lastItem) end()
      shard ??= open()
      for (const [, writer] of shard.writers) writer.write(row)
      lastItem = item
      shard.size += row.size
      bytes += row.size
      rows++
    },
    finish: (): OutputFiles => {
      if (shards === 0) shard = open()
      end()
      done.sort((a, b) => folders.indexOf(a.folder) - folders.indexOf(b.folder) || a.index - b.index)
      const files = done.map(({ file, folder, index }) => {
        const path = pathOf(folder, split, index, shards)
        if (shards > 1) OutputFile.rename(directory, file.path, path)
        if (folder !== "jsonl" || index > 0 || leading.lines.length === 0) return { ...file, path }
        const digest = OutputFile.prepend(directory, path, leading.lines.join(""))
        return { path, rows: file.rows + leading.lines.length, ...digest }
      })
      return { rows, bytes, files }
    },
    close: () => {
      for (const [, writer] of shard?.writers ?? []) writer.close()
    },
  }
}

const itemOf = ({ columns: { item_id } }: EncodedRow) => (item_id instanceof Text ? item_id.value : item_id)
