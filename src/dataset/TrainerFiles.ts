/**
 * A split in the shape that one trainer reads: `formats/NAME/SPLIT.jsonl`, or `.parquet`.
 *
 * Guarantees: one file for each split, however large, since trainers are told of a file; the
 * order is that of the pairs. What the format can't hold is counted, not lost in silence.
 */
import { Effect, Result } from "effect"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import type { Split } from "../domain/Split.ts"
import { sizeOf } from "./Columns.ts"
import type { Encoded, Format, FormatOptions } from "./format/TrainerFormat.ts"
import { type FormatName, formats } from "./format/TrainerFormats.ts"
import * as Jsonl from "./file/Jsonl.ts"
import type { DatasetFile } from "./Manifest.ts"
import * as OutputFile from "./file/OutputFile.ts"
import * as Parquet from "./file/Parquet.ts"
import * as Refused from "./OmittedPairs.ts"

export interface TrainerFile {
  readonly format: FormatName
  readonly split: Split
  readonly file: DatasetFile
  readonly rows: number
  readonly refused: Refused.Refused
}

/** Holds a folder for each format. */
export const folder = "formats"

export const pathOf = (format: FormatName, split: Split) => `${folder}/${nameOf(format, split)}`

/** Relative to `folder`. */
export const nameOf = (format: FormatName, split: Split) => `${format}/${split}.${formats[format].container}`

export const make = Effect.fnUntraced(function* (
  directory: string,
  format: FormatName,
  split: Split,
  options: FormatOptions,
) {
  const path = pathOf(format, split)
  const definition: Format = formats[format]
  const encoder = definition.encoder(options)
  const file = yield* OutputFile.create(directory, path)
  const { make } = definition.container === "parquet" ? Parquet : Jsonl
  const writer = make(file, definition.features(options))
  const refused = Refused.counter()
  let rows = 0

  const write = (results: ReadonlyArray<Encoded>) => {
    const sized: Array<OutputFile.SizedRow> = []
    for (const result of results) {
      if (Result.isSuccess(result)) sized.push({ row: result.success, size: sizeOf(result.success) })
      else refused.add({ item_id: result.failure.item_id, field: result.failure.field, reason: result.failure.reason })
    }
    rows += sized.length
    return writer.write(sized)
  }

  return {
    write: (pairs: ReadonlyArray<PreferencePair>) => write(pairs.flatMap(encoder.encode)),
    finish: Effect.gen(function* () {
      yield* write(encoder.end())
      yield* writer.end
      const digest = yield* writer.finish
      return { format, split, file: { path, rows, ...digest }, rows, refused: refused.refused() } satisfies TrainerFile
    }),
  }
})
export type TrainerWriter = Effect.Success<ReturnType<typeof make>>

/** `dataset_info.json` for LLaMA-Factory: an entry for each file, named `FORMAT-SPLIT`; undefined without any. */
export const datasetInfo = (files: ReadonlyArray<TrainerFile>): string | undefined => {
  const entries = files.flatMap(({ format, split }) => {
    const entry = formats[format].datasetInfo?.(nameOf(format, split))
    return entry === undefined ? [] : [[`${format}-${split}`, entry] as const]
  })
  return entries.length === 0 ? undefined : `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`
}
