/**
 * Records of one completion each, brought together: those with the same key make an item.
 *
 * Guarantees: the parts of a group may stand anywhere, in any number of files, and memory stays bounded however
 * large these are: the parts go through a scratch database on disk. Items stand in the order in which their keys
 * first appear, completions in that in which their parts do. A model may have several completions in a group.
 *
 * A group is one record of the source, and so is each part that could not be used. First come the parts that were
 * refused as they were read, then the groups, each followed by its parts that do not belong: with another prompt, or
 * a model's completion that the group has already. Every part that was read is thus in an item (see `completionOrigins`), or
 * in the raw text of a reject: a group that makes no item is refused with the text of all its parts, a line
 * each. A group of more than 32 MiB is refused part by part.
 *
 * An item's prompt is that of the first part, and its metadata that of all of them (`Kept.merge`).
 */
import { Array as Arr, Effect, type FileSystem, type Path, Result, Stream } from "effect"
import { describe } from "../../domain/Origin.ts"
import type { Prompt } from "../../domain/Message.ts"
import type { Reject } from "../../domain/Reject.ts"
import * as ItemDecoder from "../item/ItemDecoder.ts"
import { originOf, type Place, reject } from "../record/Row.ts"
import type { SourceError } from "../record/SourceError.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import * as GroupScratch from "./GroupScratch.ts"
import type { Part } from "../layout/Layout.ts"
import * as Messages from "../item/Messages.ts"
import { describeValue } from "../../io/Values.ts"
import * as Key from "../record/Key.ts"
import * as Kept from "../item/Metadata.ts"

export interface GroupOptions {
  /** Where the scratch database is made. Default: the system's place for temporary files. */
  readonly scratchDirectory?: string | undefined
  /** Whether an item has the key for its id; of a key too long for an id, the SHA-256. */
  readonly keyIsId: boolean
  /** By the files' names, models that wrote a file each, if that is what the files are: for parts without a model. */
  readonly fileModels?: ReadonlyMap<string, string> | undefined
}

export const group = <R>(
  parts: Stream.Stream<Result.Result<Part, Reject>, SourceError, R>,
  { fileModels = new Map(), keyIsId, scratchDirectory }: GroupOptions,
): Stream.Stream<SourceRecord, SourceError, R | FileSystem.FileSystem | Path.Path> =>
  Effect.map(GroupScratch.make(scratchDirectory), ({ groups, index, insert, areFilesModels }) => {
    const refused: Stream.Stream<SourceRecord, SourceError, R> = parts.pipe(
      Stream.chunks,
      Stream.mapEffect((some) => Effect.as(insert(Arr.getSuccesses(some)), Arr.getFailures(some))),
      Stream.flattenIterable,
      Stream.map(Result.fail),
    )
    const grouped = (named: typeof fileModels) =>
      Stream.flatMap(groups, (group) =>
        "parts" in group
          ? Stream.map(group.parts, (part) => refuseLarge(part, group.count))
          : Stream.fromArray(toRecords(Arr.map(group, withModel(named)), keyIsId)),
      )
    const all = Effect.gen(function* () {
      yield* index
      return grouped(fileModels.size > 1 && (yield* areFilesModels) ? fileModels : new Map())
    })
    return Stream.concat(refused, Stream.unwrap(all))
  }).pipe(Stream.unwrap)

const withModel =
  (fileModels: ReadonlyMap<string, string>) =>
  (part: Part): Part =>
    part.model === undefined ? { ...part, model: fileModels.get(part.place.file) } : part

const toRecords = (group: GroupScratch.Group, keyIsId: boolean): ReadonlyArray<SourceRecord> => {
  const head = group[0]
  const known = new Map<string, Map<string, Part>>()
  const members: Array<Part> = []
  const strays: Array<SourceRecord> = []
  for (const part of group) {
    const same = part.model === undefined ? undefined : known.get(part.model)?.get(part.completion)
    if (!isSamePrompt(part.prompt, head.prompt)) {
      strays.push(
        reject(
          part.place,
          "invalid_shape",
          `expected the prompt of ${describe(head.place)}, which has the same key ${describeValue(part.key)}, found another`,
        ),
      )
    } else if (same !== undefined) {
      strays.push(
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
  return [toRecord(head, members, keyIsId), ...strays]
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
  const { lists, metadata } = Kept.merge(members.map((part) => part.metadata))
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
    `expected at most ${GroupScratch.largestGroup} bytes in the records of key ${describeValue(part.key)}, found more in ${count} records; is it the right key?`,
  )
