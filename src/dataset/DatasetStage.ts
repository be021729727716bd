/** Runs in a separate thread, which syncs the written files to disk before it answers `finished` or `file`. */
import { texts as textColumns } from "../domain/PairBytes.ts"
import type { Split } from "../domain/Split.ts"
import * as OutputFile from "../node/OutputFile.ts"
import type { Stage } from "../node/Thread.ts"
import { BytesText, encoder, setMember, type Text } from "./file/EncodedRow.ts"
import type { Features, Json } from "./file/Features.ts"
import * as Jsonl from "./file/Jsonl.ts"
import * as Parquet from "./file/Parquet.ts"
import * as Shards from "./Shards.ts"

export interface Setup {
  readonly directory: string
}

export type Output =
  | { readonly split: Split; readonly features: Features; readonly shardBytes: number }
  | { readonly path: string; readonly features: Features; readonly container: "jsonl" | "parquet" }

export type ColumnContent = ReadonlyArray<Json | undefined> | string | number | boolean | null

export interface Rows {
  readonly output: number
  readonly count: number
  readonly columns: ReadonlyArray<readonly [name: string, values: ColumnContent]>
  /** The start and end of each text in `Request.texts`, in bytes. If the end is 0, the text is in `columns`. */
  readonly places?: Int32Array<ArrayBuffer> | undefined
}

export type Request =
  | { readonly kind: "open"; readonly output: Output }
  | { readonly kind: "rows"; readonly parts: ReadonlyArray<Rows>; readonly texts: Uint8Array<ArrayBuffer> }
  | { readonly kind: "finish" }
  | { readonly kind: "file"; readonly path: string; readonly content: Uint8Array }

export type Answer =
  | { readonly kind: "accepted"; readonly texts?: Uint8Array<ArrayBuffer> }
  | { readonly kind: "finished"; readonly outputs: ReadonlyArray<Shards.OutputFiles> }
  | ({ readonly kind: "file" } & OutputFile.FileDigest)

interface OutputWriter extends ReturnType<typeof Shards.make> {
  readonly names: ReadonlyArray<string>
}

const accepted: Answer = { kind: "accepted" }

export const start = ({ directory }: Setup): Stage<Request, Answer> => {
  const encode = encoder()
  const outputs: Array<OutputWriter> = []

  const open = (output: Output): OutputWriter => ({
    ...("split" in output ? Shards.make(directory, output.split, output) : fileOf(directory, output)),
    names: Object.keys(output.features),
  })

  const write = ({ columns, count, output, places }: Rows, texts: Uint8Array) => {
    const { names, write } = outputs[output]!
    const textsByStart = new Map<number, Text>()
    const textAt = (start: number, end: number) => {
      let text = textsByStart.get(start)
      if (text === undefined) textsByStart.set(start, (text = new BytesText(texts.subarray(start, end))))
      return text
    }
    const columnValues = new Map(columns)
    const order = [...new Set([...names, ...columnValues.keys()])].map(
      (name) => [name, columnValues.get(name), textColumns.indexOf(name)] as const,
    )
    for (let row = 0; row < count; row++) {
      const cells: { [column: string]: Json | Text | undefined } = {}
      for (const [name, values, place] of order) {
        const at = 2 * (row * textColumns.length + place)
        const value =
          place >= 0 && places !== undefined && places[at + 1]! > 0
            ? textAt(places[at]!, places[at + 1]!)
            : Array.isArray(values)
              ? values[row]
              : values
        if (value !== undefined) setMember(cells, name, value)
      }
      write(encode(cells))
    }
  }

  const answer = (ask: Request): Answer => {
    switch (ask.kind) {
      case "open":
        outputs.push(open(ask.output))
        return accepted
      case "rows":
        for (const rows of ask.parts) write(rows, ask.texts)
        return { kind: "accepted", texts: ask.texts }
      case "finish":
        return { kind: "finished", outputs: outputs.map(({ finish }) => finish()) }
      case "file":
        return { kind: "file", ...OutputFile.write(directory, ask.path, ask.content) }
    }
  }
  const close = () => {
    for (const { close } of outputs) close()
  }
  return Object.assign(
    (ask: Request) => ({
      answer: answer(ask),
      ...(ask.kind === "rows" && { transfer: [ask.texts.buffer] }),
    }),
    { close },
  )
}

const fileOf = (directory: string, { container, features, path }: Extract<Output, { readonly path: string }>) => {
  const leading = Jsonl.leadingLines(features)
  const file = OutputFile.create(directory, path)
  const writer = container === "parquet" ? Parquet.make(file, features) : Jsonl.make(file, features, leading)
  let bytes = 0
  return {
    write: (row: Parameters<typeof writer.write>[0]) => {
      bytes += row.size
      writer.write(row)
    },
    finish: (): Shards.OutputFiles => {
      const finished = writer.finish()
      const digest = leading.lines.length === 0 ? finished : OutputFile.prepend(directory, path, leading.lines.join(""))
      const rows = finished.rows + leading.lines.length
      return { rows, bytes, files: [{ path, ...digest, rows }] }
    },
    close: writer.close,
  }
}
