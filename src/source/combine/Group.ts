/** Groups records (one completion each) into items by key. Unreadable records come first. Memory: 50 bytes per key. */
import { Array as Arr, Effect, type FileSystem, type Path, Result, Stream } from "effect"
import { describe } from "../../domain/Origin.ts"
import type { Prompt } from "../../domain/Message.ts"
import { completionsOf } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import { describeValue, plural } from "../../io/Values.ts"
import * as ItemDecoder from "../item/ItemDecoder.ts"
import * as Messages from "../item/Messages.ts"
import * as Metadata from "../item/Metadata.ts"
import type { Layout, Part } from "../layout/Layout.ts"
import * as Key from "../record/Key.ts"
import { originOf, type Place, reject, type RowResult } from "../record/Row.ts"
import type { SourceError } from "../record/SourceError.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import { FileCounts } from "./FileCounts.ts"
import * as KeyedRecords from "./KeyedRecords.ts"
import { KeyNumbers } from "./KeyNumbers.ts"
import * as Scratch from "./Scratch.ts"

export interface GroupOptions {
  readonly scratchDirectory?: string | undefined
  readonly keyIsId: boolean
  readonly fileModels?: ReadonlyMap<string, string> | undefined
}

type Group = Arr.NonEmptyReadonlyArray<Part>

/** The source text of a record. A prompt or completion that is long and occurs in this text is cut from it. */
interface Cut {
  readonly rest: string
  /** For each text: the offset of the cut and the encoding, such as `120j` (`j`: JSON); or `-` if nothing was cut. */
  readonly places: string
}

const encodings = {
  v: (text: string): string => text,
  j: (text: string): string => JSON.stringify(text).slice(1, -1),
  c: (text: string): string => text.replaceAll('"', '""'),
}

type Encoding = keyof typeof encodings

const isEncoding = (name: string): name is Encoding => Object.hasOwn(encodings, name)

const minCutLength = 16

const cut = (record: string, texts: ReadonlyArray<string>): Cut => {
  let rest = record
  const places = texts.map((text) => {
    if (text.length < minCutLength) return "-"
    for (const [name, encode] of Object.entries(encodings)) {
      const encoded = encode(text)
      const at = rest.indexOf(encoded)
      if (at === -1) continue
      rest = rest.slice(0, at) + rest.slice(at + encoded.length)
      return `${at}${name}`
    }
    return "-"
  })
  return { rest, places: places.join(" ") }
}

const restore = ({ places, rest }: Cut, texts: ReadonlyArray<string>): string => {
  let record = rest
  const all = places.split(" ")
  for (let i = texts.length - 1; i >= 0; i--) {
    const place = all[i] ?? "-"
    const name = place.slice(-1)
    if (!isEncoding(name)) continue
    const at = Number(place.slice(0, -1))
    record = record.slice(0, at) + encodings[name](texts[i]!) + record.slice(at)
  }
  return record
}

/** To keep the scratch file small, `key` is null if the key and the prompt are the same text. */
interface Head extends Omit<Part, "place" | "completion" | "key"> {
  readonly key: string | null
  readonly record: Cut | null
}

const textsOf = (prompt: Prompt, completion: string): ReadonlyArray<string> => [
  typeof prompt === "string" ? prompt : JSON.stringify(prompt),
  completion,
]

const toStored = ({ completion, key, place, ...fields }: Part, rank: number): Scratch.Stored => {
  const { raw } = place
  const { prompt } = fields
  const record = raw === undefined ? null : cut(raw, textsOf(prompt, completion))
  const head: Head = { ...fields, key: key === prompt ? null : key, record }
  return { rank, tag: 0, origin: place, head: JSON.stringify(head), text: completion }
}

const toPart = ({ head, origin, text: completion }: Scratch.Stored): Part => {
  const { key, record, ...fields }: Head = JSON.parse(head)
  const { prompt } = fields
  const place: Place = {
    ...origin,
    get raw() {
      return record === null ? undefined : restore(record, textsOf(prompt, completion))
    },
  }
  return { ...fields, place, key: key ?? (typeof prompt === "string" ? prompt : ""), completion }
}

export const toItems = <E, R>(
  rows: Stream.Stream<RowResult, E, R>,
  layout: Layout,
  options: Omit<GroupOptions, "keyIsId">,
): Stream.Stream<SourceRecord, E | SourceError, R | FileSystem.FileSystem | Path.Path> =>
  layout.reads === "items"
    ? Stream.mapArray(rows, Arr.map(Result.flatMap(layout.toRecord)))
    : group(Stream.mapArray(rows, Arr.map(Result.flatMap(layout.toPart))), { ...options, keyIsId: layout.keyIsId })

export const group = <E, R>(
  parts: Stream.Stream<Result.Result<Part, Reject>, E, R>,
  { fileModels = new Map(), keyIsId, scratchDirectory }: GroupOptions,
): Stream.Stream<SourceRecord, E | SourceError, R | FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const scratch = yield* Scratch.make(scratchDirectory)
    const keys = new KeyNumbers()
    const counts = new FileCounts()
    let isModelMissing = false
    const add = (part: Part) => {
      const rank = keys.of(Key.toTableKey(part.key))
      if (fileModels.size > 1) counts.add(rank, part.place.file)
      isModelMissing ||= part.model === undefined
      scratch.add(KeyedRecords.listOf(rank, 0), toStored(part, rank))
    }
    const rejects: Stream.Stream<SourceRecord, E | SourceError, R> = parts.pipe(
      Stream.chunks,
      Stream.mapEffect((chunk) =>
        Scratch.attempt(() => {
          for (const part of chunk) if (Result.isSuccess(part)) add(part.success)
          return Arr.getFailures(chunk)
        }),
      ),
      Stream.flattenIterable,
      Stream.map(Result.fail),
    )
    const grouped = Effect.gen(function* () {
      const mayBeNamed = fileModels.size > 1 && isModelMissing
      const isNamedByFile = mayBeNamed && counts.areEven(keys.count)
      if (mayBeNamed)
        yield* Effect.logInfo(isNamedByFile ? "Models: named after the files" : missingModelsMessage(counts, keys))
      return Scratch.stream(() => groups(scratch, keys.count, isNamedByFile ? fileModels : new Map(), keyIsId))
    }).pipe(Stream.unwrap)
    return Stream.concat(rejects, grouped)
  }).pipe(Stream.unwrap)

const missingModelsMessage = (counts: FileCounts, keys: KeyNumbers): string => {
  const { even, several } = counts.evenKeys(keys.count)
  return (
    `Models: none. Models are named after files if each file seems to come from one model. For this, at least 75% of the prompts with several completions must meet two conditions: over half of the files contain the prompt, and all files that contain it do so equally often. Here, ${even} of ${several} prompts meet both. To name the models, ` +
    "set `model` to the field that names the model, or read each batch of files in a separate run"
  )
}

const groups = function* (
  scratch: Scratch.Scratch,
  count: number,
  models: ReadonlyMap<string, string>,
  keyIsId: boolean,
): Generator<readonly [SourceRecord, size: number]> {
  scratch.finish()
  for (const { from, largeCount, records, to } of KeyedRecords.batches(scratch, 0, count)) {
    if (largeCount !== undefined) {
      for (const record of records()) yield [refuseLarge(toPart(scratch.read(record)), largeCount), record.size]
      continue
    }
    const recordsOfRank = KeyedRecords.byRank(records())
    for (let rank = from; rank < to; rank++) {
      const keyRecords = recordsOfRank.get(rank) ?? []
      const size = keyRecords.reduce((sum, { size }) => sum + size, 0)
      const group = keyRecords.map((record) => {
        const part = toPart(scratch.read(record))
        return part.model === undefined ? { ...part, model: models.get(part.place.file) } : part
      })
      if (Arr.isReadonlyArrayNonEmpty(group)) for (const record of splitGroup(group, keyIsId)) yield [record, size]
    }
  }
}

const splitGroup = (group: Group, keyIsId: boolean): ReadonlyArray<SourceRecord> => {
  const head = group[0]
  const partsOfModels = new Map<string | undefined, Map<string, Part>>()
  const members: Array<Part> = []
  const rejects: Array<SourceRecord> = []
  for (const part of group) {
    const { completion, key, model, place, prompt } = part
    const completions = partsOfModels.get(model) ?? new Map<string, Part>()
    const duplicate = model === undefined ? undefined : completions.get(completion)
    if (!Messages.isSamePrompt(prompt, head.prompt)) {
      const reason = `expected the same prompt as ${describe(head.place)} for key ${describeValue(key)}, found a different prompt`
      rejects.push(reject(place, "invalid_shape", reason))
    } else if (duplicate !== undefined) {
      const reason = `expected a different completion in each record with model ${describeValue(model)} and key ${describeValue(key)}, found the same completion as in ${describe(duplicate.place)}`
      rejects.push(reject(place, "duplicate_key", reason))
    } else {
      partsOfModels.set(model, completions.set(completion, part))
      members.push(part)
    }
  }
  return [toRecord(head, members, keyIsId), ...rejects]
}

const toRecord = (head: Part, members: ReadonlyArray<Part>, keyIsId: boolean): SourceRecord => {
  const place: Place = {
    ...originOf(head.place),
    get raw() {
      return members.map((part) => part.place.raw ?? "").join("\n")
    },
  }
  const distinctCount = new Set(members.map(({ completion }) => completion)).size
  if (distinctCount < 2) {
    const count = `found ${distinctCount} in ${members.length} ${plural(members.length, "record")}`
    const reason = `expected at least two distinct completions for key ${describeValue(head.key)}, ${count}`
    return reject(place, "invalid_shape", reason)
  }
  const hasModels = members.every(({ model }) => model !== undefined)
  const { lists, metadata } = Metadata.merge(members.map((part) => part.metadata))
  const tools = members.find((part) => part.tools !== undefined)?.tools
  const item = {
    ...(keyIsId ? { id: Key.toId(head.key) } : undefined),
    prompt: head.prompt,
    completions: completionsOf({
      completions: members.map(({ completion }) => completion),
      as_messages: members.map(({ isMessages }) => isMessages === true),
    }),
    ...(hasModels ? { models: members.map(({ model }) => model) } : undefined),
    ...(metadata === undefined ? undefined : { metadata }),
  }
  return Result.map(ItemDecoder.decode(item, place), (decoded) => ({
    ...decoded,
    ...(tools !== undefined && { item: { ...decoded.item, tools } }),
    completionOrigins: members.map((part) => originOf(part.place)),
    completionLists: lists.map((name) => [name]),
  }))
}

const refuseLarge = (part: Part, count: number): SourceRecord =>
  reject(
    part.place,
    "too_large",
    `expected at most ${KeyedRecords.maxBatchBytes} bytes in total for the records with key ${describeValue(part.key)}, found more in ${count} records; check that the key is the right field`,
  )
