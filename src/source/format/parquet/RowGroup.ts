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
import type { Field, Leaf, Node } from "./Schema.ts"
import { Unusable } from "./Values.ts"

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
      const state: RowState = { elements: 0, unusable: undefined }
      const columns: Array<Column> = []
      let firstLeaf = 0
      for (const field of fields) {
        const fieldColumns = stored.slice(firstLeaf, (firstLeaf += field.leaves.length))
        const values = yield* Effect.mapError(decode(field, group.rows, fieldColumns), toFailure)
        columns.push({ name: field.node.name, values, read: reader(field.node, state) })
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

const rowOf = (part: Part, index: number, columns: ReadonlyArray<Column>, state: RowState): RowResult => {
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
    const { path, value: problem } = state.unusable as NonNullable<RowState["unusable"]>
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

const maxElements = 4_000_000

interface RowState {
  elements: number
  unusable: { readonly path: string; readonly value: Unusable } | undefined
}

type Read = (value: unknown) => unknown

/** Converts assembled values of `hyparquet` to JSON values. A null list and an empty list remain different. */
const reader = (node: Node, state: RowState): Read => {
  const read = content(node, state)
  if (node.repetition === "REPEATED") return repeated(node, read, state)
  return node.kind === "leaf" ? read : (value) => (value === null || value === undefined ? null : read(value))
}

const repeated =
  <A>({ kind, path }: Node, read: (value: unknown) => A, state: RowState) =>
  (values: unknown): Array<A> => {
    // `hyparquet` returns null for an empty list of leaves.
    if (values === null && kind === "leaf") return []
    if (!Array.isArray(values))
      return corrupt(`column "${path}": a page is damaged: its levels do not match those of other columns`)
    state.elements += values.length
    if (state.elements > maxElements) corrupt(`column "${path}": a row has more than ${maxElements} list elements`)
    return values.map(read)
  }

const content = (node: Node, state: RowState): Read => {
  const { path } = node
  switch (node.kind) {
    case "leaf": {
      const { convert } = node.conversion
      return (value) => {
        if (value === null) return null
        if (value === undefined) return corrupt(`column "${path}": a page is damaged: a value is missing`)
        const converted = convert(value)
        if (!(converted instanceof Unusable)) return converted
        state.unusable ??= { path, value: converted }
        return null
      }
    }
    case "struct": {
      const members = node.fields.map((field) => ({ name: field.name, key: field.key, read: reader(field, state) }))
      return (value) => {
        return Object.fromEntries(members.map(({ name, key, read }) => [name, read(memberOf(value, key))]))
      }
    }
    case "list": {
      const { repeated: wrapper, element } = node
      const read = element === wrapper ? content(element, state) : readMember(reader(element, state), element.key)
      const elements = repeated(wrapper, read, state)
      return (value) => elements(memberOf(value, wrapper.key))
    }
    case "map": {
      const { repeated: wrapper, keyNode, valueNode } = node
      const readKey = readMember(reader(keyNode, state), keyNode.key)
      const readValue = valueNode === undefined ? () => null : readMember(reader(valueNode, state), valueNode.key)
      const entries = repeated(wrapper, (entry) => [String(readKey(entry)), readValue(entry)] as const, state)
      return (value) => Object.fromEntries(entries(memberOf(value, wrapper.key)))
    }
  }
}

const memberOf = (group: unknown, key: string): unknown =>
  typeof group === "object" && group !== null ? Reflect.get(group, key) : corrupt("its nesting (levels) is damaged")

const readMember =
  (read: Read, key: string): Read =>
  (value) =>
    read(memberOf(value, key))
