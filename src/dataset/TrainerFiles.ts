/**
 * Writes a split in one trainer's format: `formats/NAME/SPLIT.jsonl`, or `.parquet`.
 *
 * Guarantees: one file per split, whatever its size, in the order of the pairs. Pairs that the format cannot represent
 * are counted.
 */
import { Effect, Result } from "effect"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import type { Split } from "../domain/Split.ts"
import { DatasetError, FormatNameInvalid } from "./file/DatasetError.ts"
import type { Encode, EncodedRow } from "./file/EncodedRow.ts"
import * as Jsonl from "./file/Jsonl.ts"
import * as OmittedPairs from "./file/OmittedPairs.ts"
import * as OutputFile from "./file/OutputFile.ts"
import * as Parquet from "./file/Parquet.ts"
import type { Encoded, FormatOptions, TrainerFormat } from "./format/TrainerFormat.ts"
import { type FormatName, formats } from "./format/TrainerFormats.ts"
import type { DatasetFile } from "./Manifest.ts"

export interface TrainerFile {
  readonly format: TrainerFormat
  readonly split: Split
  readonly file: DatasetFile
  readonly rows: number
  readonly omitted: OmittedPairs.OmittedPairs
}

/** Contains one folder per format. */
export const folder = "formats"

export const pathOf = (format: TrainerFormat, split: Split) => `${folder}/${nameOf(format, split)}`

/** Relative to `folder`. */
const nameOf = ({ container, name }: TrainerFormat, split: Split) => `${name}/${split}.${container}`

/** The formats without duplicates. Fails if a name is unknown or is not a valid folder name. */
export const resolve = Effect.fnUntraced(function* (requested: ReadonlyArray<FormatName | TrainerFormat>) {
  const chosen = new Map<string, TrainerFormat>()
  for (const each of requested) {
    const format = typeof each === "string" ? formats[each] : each
    const { name } = format
    const invalid = (expected: string) => new DatasetError({ reason: new FormatNameInvalid({ name, expected }) })
    if (!/^[\w-][\w.-]*$/.test(name)) return yield* invalid("a name of letters, digits, -, _ and .")
    if ((chosen.get(name) ?? format) !== format) return yield* invalid("another name than that of another format")
    chosen.set(name, format)
  }
  return [...chosen.values()]
})

export const make = Effect.fnUntraced(function* (
  directory: string,
  format: TrainerFormat,
  split: Split,
  { encode, ...options }: FormatOptions & { readonly encode: Encode },
) {
  const path = pathOf(format, split)
  const encoder = format.encoder(options)
  const file = yield* OutputFile.create(directory, path)
  const { make } = format.container === "parquet" ? Parquet : Jsonl
  const writer = make(file, format.features(options))
  const counter = OmittedPairs.counter()
  let rows = 0

  const write = (results: ReadonlyArray<Encoded>) => {
    const encoded: Array<EncodedRow> = []
    for (const result of results) {
      if (Result.isSuccess(result)) encoded.push(encode(result.success))
      else counter.add(result.failure)
    }
    rows += encoded.length
    return writer.write(encoded)
  }

  return {
    write: (pairs: ReadonlyArray<PreferencePair>) => write(pairs.flatMap(encoder.encode)),
    finish: Effect.gen(function* () {
      yield* write(encoder.end())
      yield* writer.end
      const digest = yield* writer.finish
      return { format, split, file: { path, rows, ...digest }, rows, omitted: counter.omitted() } satisfies TrainerFile
    }),
  }
})
export type TrainerWriter = Effect.Success<ReturnType<typeof make>>

/** `dataset_info.json` for LLaMA-Factory: one entry `FORMAT-SPLIT` per file; undefined if there are none. */
export const datasetInfo = (files: ReadonlyArray<TrainerFile>): string | undefined => {
  const entries = files.flatMap(({ format, split }) => {
    const entry = format.datasetInfo?.(nameOf(format, split))
    return entry === undefined ? [] : [[`${format.name}-${split}`, entry] as const]
  })
  return entries.length === 0 ? undefined : `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`
}
