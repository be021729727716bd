/** All requested columns of a row group are in memory at once, within `maxBytes`. */
import { Array, Effect, Option, Result, Stream } from "effect"
import type { DecodedArray } from "hyparquet"
import { assembleNested } from "hyparquet/src/assemble.js"
import { DEFAULT_PARSERS } from "hyparquet/src/convert.js"
import { getSchemaPath } from "hyparquet/src/schema.js"
import { reject, type RowResult } from "../../record/Row.ts"
import { type SourceError, unreadable } from "../../record/SourceError.ts"
import * as Codecs from "./Codecs.ts"
import { corrupt, CorruptFile, problemOf } from "./CorruptFile.ts"
import type { Chunk, RowGroup } from "./Footer.ts"
import { Pages, type Spend } from "./Pages.ts"
import * as Rows from "./Rows.ts"
import type { Field, Leaf } from "./Schema.ts"

const maxGapBytes = 64 * 1024
const maxRequestBytes = 32 * 1024 * 1024

const batchBytes = 256 * 1024
const maxBatchRows = 512

export interface Part {
  readonly file: string
  readonly slice: (start: number, end: number) => Effect.Effect<Uint8Array, SourceError>
  readonly group: RowGroup
  readonly number: number
  readonly firstRow: number
  readonly maxBytes: number
}

export const rows = (part: Part, fields: ReadonlyArray<Field>): Stream.Stream<RowResult, SourceError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { file, group } = part
      const toFailure = (cause: unknown) => unreadable(file, `row group ${part.number}: ${problemOf(cause)}`, cause)
      let neededBytes = 0
      const spend: Spend = (bytes) => {
        neededBytes += bytes
        if (neededBytes > part.maxBytes) {
          corrupt(
            `its columns need more than ${part.maxBytes.toLocaleString("en")} bytes of memory; raise \`maxRowGroupBytes\` or write the file with fewer rows per row group`,
          )
        }
      }
      const leaves = fields.flatMap((field) => field.leaves)
      const chunks = yield* Effect.try({ try: () => chunksOf(part, leaves, spend), catch: toFailure })
      const bytes = yield* readChunks(part, chunks)
      const stored = yield* Effect.try({
        try: () => Array.map(leaves, (leaf, i) => openColumn(leaf, chunks[i]!, bytes[i]!, spend)),
        catch: toFailure,
      })
      const state: Rows.RowState = { elements: 0, unusable: undefined }
      const columns: Array<Column> = []
      let firstLeaf = 0
      for (const field of fields) {
        const fieldColumns = stored.slice(firstLeaf, (firstLeaf += field.leaves.length))
        const values = yield* Effect.mapError(decode(field, group.rows, fieldColumns), toFailure)
        columns.push({ name: field.node.name, values, read: Rows.reader(field.node, state) })
      }
      const batchRows = Math.max(1, Math.min(maxBatchRows, Math.floor((batchBytes * group.rows) / (neededBytes + 1))))
      return Stream.paginate(0, (from: number) =>
        Effect.map(Effect.yieldNow, () => {
          const end = Math.min(from + batchRows, group.rows)
          const results = Array.makeBy(end - from, (i) => rowOf(part, from + i, columns, state))
          return [results, end < group.rows ? Option.some(end) : Option.none<number>()] as const
        }),
      )
    }),
  )

const inColumn = (path: string, cause: unknown): CorruptFile =>
  new CorruptFile({ problem: `column "${path}": ${problemOf(cause)}` })

const chunksOf = ({ group }: Part, leaves: ReadonlyArray<Leaf>, spend: Spend): ReadonlyArray<Chunk> => {
  const chunks = leaves.map(({ conversion, index, path }): Chunk => {
    const chunk = group.chunks[index]!
    if (typeof chunk === "string") return corrupt(`column "${path}": ${chunk}`)
    const problem = unsupportedProblem(chunk.codec, conversion.unsupported)
    return problem === undefined ? chunk : corrupt(`column "${path}": ${problem}`)
  })
  for (const { end, start } of chunks) spend(end - start)
  return chunks
}

const unsupportedProblem = (codec: string, type: string | undefined): string | undefined => {
  if (type !== undefined) return `unsupported type ${type}; leave the column out, or convert it to text`
  if (Codecs.isSupported(codec)) return undefined
  return `unsupported compression ${codec}; write the file with zstd, or without compression`
}

const readChunks = Effect.fnUntraced(function* ({ slice }: Part, chunks: ReadonlyArray<Chunk>) {
  const requests: Array<{ start: number; end: number }> = []
  for (const { end, start } of chunks.toSorted((a, b) => a.start - b.start)) {
    const last = requests.at(-1)
    const isNear = last !== undefined && start <= last.end + maxGapBytes && end - last.start <= maxRequestBytes
    if (isNear) last.end = Math.max(last.end, end)
    else requests.push({ start, end })
  }
  const responses = yield* Effect.forEach(
    requests,
    ({ end, start }) => Effect.map(slice(start, end), (bytes) => ({ start, end, bytes })),
    { concurrency: 4 },
  )
  return chunks.map(({ end, start }) => {
    const request = responses.find((request) => request.start <= start && end <= request.end)!
    return request.bytes.subarray(start - request.start, end - request.start)
  })
})

interface StoredColumn {
  readonly leaf: Leaf
  readonly pages: Pages
}

const openColumn = (leaf: Leaf, chunk: Chunk, bytes: Uint8Array, spend: Spend): StoredColumn => {
  const pages = Result.try(() => new Pages(leaf, chunk, bytes, spend))
  return { leaf, pages: Result.getOrThrowWith(pages, (cause) => inColumn(leaf.path, cause)) }
}

const decode = Effect.fnUntraced(function* (
  { elements, node }: Field,
  rows: number,
  columns: ReadonlyArray<StoredColumn>,
): Effect.fn.Return<DecodedArray, CorruptFile> {
  const [table] = getSchemaPath(elements, [])
  const parts = new Map<string, DecodedArray>()
  for (const { leaf, pages } of columns) {
    const steps = pages.decode(rows, table!)
    for (let isDone = false; !isDone;) {
      const step = yield* Effect.try({ try: () => steps.next(), catch: (cause) => inColumn(leaf.path, cause) })
      if (step.done === true) parts.set(leaf.keys.join("."), step.value)
      isDone = step.done === true
      yield* Effect.yieldNow
    }
  }
  return yield* Effect.try({
    try: () => {
      assembleNested(parts, table!.children[0]!, DEFAULT_PARSERS)
      const values = parts.get(node.key) ?? []
      return values.length === rows ? values : corrupt(`only ${values.length} of ${rows} rows`)
    },
    catch: (cause) => inColumn(node.path, cause),
  })
})

interface Column {
  readonly name: string
  readonly values: DecodedArray
  readonly read: (value: unknown) => unknown
}

const rowOf = (part: Part, index: number, columns: ReadonlyArray<Column>, state: Rows.RowState): RowResult => {
  const { file, firstRow } = part
  const row = firstRow + index
  state.elements = 0
  state.unusable = undefined
  const members = Result.try(() =>
    Object.fromEntries(columns.map(({ name, read, values }) => [name, read(values[index])])),
  )
  if (Result.isFailure(members)) {
    return reject({ file, row, raw: undefined }, "invalid_shape", problemOf(members.failure))
  }
  const value = members.success
  if (state.unusable !== undefined) {
    const { path, value: problem } = state.unusable as NonNullable<Rows.RowState["unusable"]>
    return reject({ file, row, raw: undefined }, problem.code, `${path}: ${problem.problem}`)
  }
  const place = {
    file,
    row,
    get raw() {
      return Result.getOrUndefined(Result.try(() => JSON.stringify(value)))
    },
  }
  return Result.succeed({ place, value })
}
