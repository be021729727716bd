/**
 * Records of one completion each, grouped: those with the same key make an item.
 *
 * Guarantees: the parts of a group may stand anywhere, in any number of files, and memory stays bounded however large
 * these are. Items stand in the order in which their keys first appear, completions in that of their parts. Every part
 * is in an item (`completionOrigins`) or in the raw text of a reject: first come the parts that were refused as they
 * were read, then the groups, each followed by its parts that do not belong.
 */
import { Array as Arr, Effect, type FileSystem, type Path, Result, Stream } from "effect"
import { describe } from "../../domain/Origin.ts"
import type { Prompt } from "../../domain/Message.ts"
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
import * as KeyedRecords from "./KeyedRecords.ts"
import type { Scratch } from "./Scratch.ts"

export interface GroupOptions {
  /** Where the scratch database is made. Default: the system's directory for temporary files. */
  readonly scratchDirectory?: string | undefined
  /** Whether an item has the key for its id; of a key too long for an id, the SHA-256. */
  readonly keyIsId: boolean
  /** By file, the model that wrote its completions, if that is what the files are: for parts without a model. */
  readonly fileModels?: ReadonlyMap<string, string> | undefined
}

/** The parts of a larger group are refused one by one: a group is held in memory. */
const maxGroupBytes = 32 * 1024 * 1024

type Group = Arr.NonEmptyReadonlyArray<Part>

/** A part without its place. The key is left out where it is the prompt. */
interface StoredPart extends Omit<Part, "place" | "key"> {
  readonly key?: string
}

const textsOf = ({ completion, prompt }: StoredPart): ReadonlyArray<string> => [
  typeof prompt === "string" ? prompt : JSON.stringify(prompt),
  completion,
]

const toStored = ({ key, place, ...part }: Part): KeyedRecords.KeyedRecord<StoredPart> => ({
  place,
  value: key === part.prompt ? part : { ...part, key },
})

const keyOf = ({ key, prompt }: StoredPart): string => key ?? (typeof prompt === "string" ? prompt : "")

const toPart = ({ record }: KeyedRecords.FoundRecord<StoredPart>): ReadonlyArray<Part> =>
  "value" in record ? [{ ...record.value, key: keyOf(record.value), place: record.place }] : []

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
    const store = yield* KeyedRecords.make(scratchDirectory, textsOf)
    const files = new Map<string, number>()
    const fileNumber = ({ file }: { readonly file: string }): number => {
      const number = files.get(file) ?? files.size
      files.set(file, number)
      return number
    }
    let isModelMissing = false
    const refused: Stream.Stream<SourceRecord, E | SourceError, R> = parts.pipe(
      Stream.chunks,
      Stream.mapEffect((some) => {
        const stored = Arr.getSuccesses(some)
        isModelMissing ||= stored.some(({ model }) => model === undefined)
        const records = stored.map((part) => Result.succeed(toStored(part)))
        return Effect.as(
          store.insert(records, ({ value }) => keyOf(value), fileNumber),
          Arr.getFailures(some),
        )
      }),
      Stream.flattenIterable,
      Stream.map(Result.fail),
    )
    const all = Effect.gen(function* () {
      yield* store.index
      yield* store.list(
        "head",
        "SELECT min(id) AS id, key, count(*), sum(size), NULL FROM record GROUP BY key ORDER BY id",
      )
      const isNamedByFile = fileModels.size > 1 && isModelMissing && (yield* areFilesModels(store.run))
      const modelOf = (part: Part) => part.model ?? (isNamedByFile ? fileModels.get(part.place.file) : undefined)
      return Stream.flatMap(store.batches("head"), (batch) =>
        batch[0].size > maxGroupBytes
          ? store.membersInPages("head", batch[0]).pipe(
              Stream.flatMap((found) => Stream.fromIterable(toPart(found))),
              Stream.map((part) => refuseLarge(part, batch[0].count)),
            )
          : Stream.fromIterableEffect(
              Effect.map(store.members("head", batch), (found) =>
                [...found.values()]
                  .map((one) => one.flatMap(toPart).map((part) => ({ ...part, model: modelOf(part) })))
                  .flatMap((group) => (Arr.isReadonlyArrayNonEmpty(group) ? splitGroup(group, keyIsId) : [])),
              ),
            ),
      )
    })
    return Stream.concat(refused, Stream.unwrap(all))
  }).pipe(Stream.unwrap)

/**
 * Whether the files may name the models, as they hold the completions of one model each: of the groups, three quarters
 * have equally many parts from each of their files, and from more than half of all files.
 */
const areFilesModels = (run: Scratch["run"]) =>
  Effect.map(
    run<{ readonly groups: number; readonly even: number | null }>(
      `SELECT count(*) AS groups, sum(isEven) AS even FROM (
         SELECT min(parts) = max(parts) AND 2 * count(*) > (SELECT count(DISTINCT source) FROM record) AS isEven
         FROM (SELECT key, source, count(*) AS parts FROM record GROUP BY key, source)
         GROUP BY key HAVING sum(parts) > 1)`,
    ),
    ([counts]) => 4 * (counts?.even ?? 0) >= 3 * (counts?.groups ?? 0),
  )

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
  const item = {
    ...(keyIsId ? { id: Key.toId(head.key) } : undefined),
    prompt: head.prompt,
    completions: members.map(({ completion }) => completion),
    ...(hasModels ? { models: members.map(({ model }) => model) } : undefined),
    ...(metadata === undefined ? undefined : { metadata }),
  }
  return Result.map(ItemDecoder.decode(item, place), (decoded) => ({
    ...decoded,
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
    `expected at most ${maxGroupBytes} bytes in the records of key ${describeValue(part.key)}, found more in ${count} records; is it the right key?`,
  )
