/**
 * Records of one completion each, grouped: those with the same key make an item.
 *
 * Guarantees: the parts of a group may be anywhere, in any number of files. Memory grows by about 50 bytes per key;
 * otherwise it is bounded. Items are in the order in which their keys first appear, completions in that of their parts.
 * Every part is in an item (`completionOrigins`) or in the raw text of a reject: first come the parts that were rejected
 * when read, then the groups, each followed by its parts that do not belong.
 */
import { Array as Arr, Effect, type FileSystem, type Path, Result, Stream } from "effect"
import { describe } from "../../domain/Origin.ts"
import type { Prompt } from "../../domain/Message.ts"
import { completionsOf } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import * as ItemDecoder from "../item/ItemDecoder.ts"
import * as Messages from "../item/Messages.ts"
import * as Metadata from "../item/Metadata.ts"
import type { Layout, Part } from "../layout/Layout.ts"
import * as Key from "../record/Key.ts"
import { originOf, type Place, reject, type RowResult } from "../record/Row.ts"
import type { SourceError } from "../record/SourceError.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import { describeValue } from "../../io/Values.ts"
import { FileCounts } from "./FileCounts.ts"
import * as KeyedRecords from "./KeyedRecords.ts"
import { KeyNumbers } from "./KeyNumbers.ts"
import * as Scratch from "./Scratch.ts"
import * as ScratchText from "./ScratchText.ts"

export interface GroupOptions {
  /** Where the scratch file is made. Default: the system's directory for temporary files. */
  readonly scratchDirectory?: string | undefined
  /** Whether an item has the key for its id; of a key too long for an id, the SHA-256. */
  readonly keyIsId: boolean
  /** By file, the model that wrote its completions, if that is what the files are: for parts without a model. */
  readonly fileModels?: ReadonlyMap<string, string> | undefined
}

type Group = Arr.NonEmptyReadonlyArray<Part>

/** A part without its place and completion. The key is left out where it is the prompt. */
type Head = readonly [
  key: string | null,
  prompt: Prompt,
  model: string | null,
  metadata: Part["metadata"] | null,
  record: ScratchText.Cut | null,
  isMessages: boolean,
  tools: string | null,
]

/** The long texts of a part that its record's own text also has: they are written once. */
const textsOf = (prompt: Prompt, completion: string): ReadonlyArray<string> => [
  typeof prompt === "string" ? prompt : JSON.stringify(prompt),
  completion,
]

const toStored = (
  { completion, isMessages = false, key, metadata, model, place, prompt, tools }: Part,
  rank: number,
): Scratch.Stored => {
  const { raw } = place
  const cut = raw === undefined ? null : ScratchText.cut(raw, textsOf(prompt, completion))
  const head: Head = [
    key === prompt ? null : key,
    prompt,
    model ?? null,
    metadata ?? null,
    cut,
    isMessages,
    tools ?? null,
  ]
  return { rank, tag: 0, origin: place, head: JSON.stringify(head), text: completion }
}

const toPart = ({ head, origin, text: completion }: Scratch.Stored): Part => {
  const [key, prompt, model, metadata, cut, isMessages, tools]: Head = JSON.parse(head)
  const place: Place = {
    ...origin,
    get raw() {
      return cut === null ? undefined : ScratchText.restore(cut, textsOf(prompt, completion))
    },
  }
  return {
    place,
    // Only a key that is the prompt was left out, and this prompt is text.
    key: key ?? (typeof prompt === "string" ? prompt : ""),
    prompt,
    completion,
    isMessages,
    tools: tools ?? undefined,
    model: model ?? undefined,
    metadata: metadata ?? undefined,
  }
}

/** The items of rows in a layout: of each row one, or of the rows of a key. */
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
      const rank = keys.of(Key.short(part.key))
      if (fileModels.size > 1) counts.add(rank, part.place.file)
      isModelMissing ||= part.model === undefined
      scratch.add(KeyedRecords.listOf(rank, 0), toStored(part, rank))
    }
    const refused: Stream.Stream<SourceRecord, E | SourceError, R> = parts.pipe(
      Stream.chunks,
      Stream.mapEffect((some) =>
        Scratch.attempt(() => {
          for (const part of some) if (Result.isSuccess(part)) add(part.success)
          return Arr.getFailures(some)
        }),
      ),
      Stream.flattenIterable,
      Stream.map(Result.fail),
    )
    const grouped = Effect.gen(function* () {
      const mayBeNamed = fileModels.size > 1 && isModelMissing
      const isNamedByFile = mayBeNamed && counts.areEven(keys.count)
      if (mayBeNamed) yield* Effect.logInfo(isNamedByFile ? "Models: named after the files" : whyNone(counts, keys))
      return Scratch.stream(() => groups(scratch, keys.count, isNamedByFile ? fileModels : new Map(), keyIsId))
    }).pipe(Stream.unwrap)
    return Stream.concat(refused, grouped)
  }).pipe(Stream.unwrap)

const whyNone = (counts: FileCounts, keys: KeyNumbers): string => {
  const { even, several } = counts.evenKeys(keys.count)
  return (
    `Models: none, because only ${even} of ${several} prompts are in most of the files, equally often in each: ` +
    "name their field with --model-path, or read the files of each batch in a run of their own"
  )
}

/** @param models by file, of parts without a model */
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
    const found = KeyedRecords.byRank(records())
    for (let rank = from; rank < to; rank++) {
      const located = found.get(rank) ?? []
      const size = located.reduce((sum, { size }) => sum + size, 0)
      const group = located.map((record) => {
        const part = toPart(scratch.read(record))
        return part.model === undefined ? { ...part, model: models.get(part.place.file) } : part
      })
      if (Arr.isReadonlyArrayNonEmpty(group)) for (const one of splitGroup(group, keyIsId)) yield [one, size]
    }
  }
}

/** The item, and its parts that do not belong. */
const splitGroup = (group: Group, keyIsId: boolean): ReadonlyArray<SourceRecord> => {
  const head = group[0]
  const known = new Map<string, Map<string, Part>>()
  const members: Array<Part> = []
  const rejects: Array<SourceRecord> = []
  for (const part of group) {
    const same = part.model === undefined ? undefined : known.get(part.model)?.get(part.completion)
    if (!isSamePrompt(part.prompt, head.prompt)) {
      rejects.push(
        reject(
          part.place,
          "invalid_shape",
          `expected the prompt of ${describe(head.place)}, which has the same key ${describeValue(part.key)}, found another`,
        ),
      )
    } else if (same !== undefined) {
      rejects.push(
        reject(
          part.place,
          "duplicate_key",
          `expected each completion of a model once for key ${describeValue(part.key)}, found this one of ${describeValue(part.model!)} at ${describe(same.place)} already`,
        ),
      )
    } else {
      if (part.model !== undefined) {
        const completions = known.get(part.model) ?? new Map<string, Part>()
        known.set(part.model, completions.set(part.completion, part))
      }
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
  const distinct = new Set(members.map(({ completion }) => completion)).size
  if (distinct < 2) {
    const found = `found ${distinct} in ${members.length === 1 ? "1 record" : `${members.length} records`}`
    const reason = `expected at least two distinct completions for key ${describeValue(head.key)}, ${found}`
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

const isSamePrompt = (one: Prompt, other: Prompt): boolean => {
  if (typeof one === "string" || typeof other === "string") return one === other
  return one.length === other.length && one.every((message, i) => Messages.isEqual(message, other[i]))
}

const refuseLarge = (part: Part, count: number): SourceRecord =>
  reject(
    part.place,
    "too_large",
    `expected at most ${KeyedRecords.maxBatchBytes} bytes in the records of key ${describeValue(part.key)}, found more in ${count} records; is it the right key?`,
  )
