/**
 * Imports votes that were given elsewhere. The ledger records them as completed tasks, which are never sent. If an
 * import is killed, import the same input again: votes that are already in the ledger count as duplicates, and are not
 * added. If an expert has several equal votes on an item, one of them counts. Votes without an expert's name all count.
 * If an item has several decisions of lead reviewers, the last decision counts. Memory grows by 100 bytes for each flag
 * and for each vote without a name.
 */
import { Effect, Equal, Exit, Option, Result, type Stream } from "effect"
import { flagsIn } from "../domain/Flag.ts"
import type { Reject } from "../domain/Reject.ts"
import type { ImportedVote } from "../domain/Vote.ts"
import type { VotedItem, VoteRecord } from "../domain/VotedItem.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { runAndFlush } from "../io/RunAndFlush.ts"
import * as Sha256 from "../node/Sha256.ts"
import * as ImportedItem from "./ImportedItem.ts"
import { Ledger } from "./ledger/Ledger.ts"
import { type BatchItem, type CampaignTerms, nothingRead, type ReadCounts } from "./ledger/schema/Model.ts"
import { importedTaskPrefix } from "./ledger/schema/Rows.ts"
import * as RejectLimit from "./plan/RejectLimit.ts"
import { conflict, identify, newTasks } from "./plan/TaskRequests.ts"
import { reasonOf } from "./Submit.ts"

/** Options of `importVotes`. */
export interface ImportOptions extends CampaignTerms {
  /** Default: the guidelines of the last run. If the guidelines differ from these, set `newCampaign`. */
  readonly guidelines?: string | undefined
  /** Whether to start a new campaign if guidelines or task type differ from those of the last run. Default false. */
  readonly newCampaign?: boolean | undefined
  /** The limit of rejects, as in `submit`. */
  readonly maxRejects?: RejectLimit.RejectLimit | undefined
}

/** Counts of an import: `read = imported + duplicates + rejected`. */
export interface ImportCounts {
  /** The number of the run in the ledger, from 1. */
  readonly run: number
  /** Number of records in the input. */
  readonly read: number
  /** Records that added at least one vote. */
  readonly imported: number
  /** Records whose votes the ledger already had. */
  readonly duplicates: number
  /** Records that the source or the import rejected. */
  readonly rejected: number
  /** Items that were new to the ledger. */
  readonly items: number
  /** Votes that the import added. */
  readonly votes: number
  /** Number of added votes that rank several completions first. */
  readonly ties: number
}

const maxStepRecords = 1024
const maxStepCharacters = 4_000_000

interface Identified {
  readonly record: VoteRecord
  readonly item: BatchItem | undefined
  readonly characters: number
}

const identified = (record: VoteRecord): Identified =>
  Result.match(record, {
    onFailure: ({ raw = "" }) => ({ record, item: undefined, characters: raw.length }),
    onSuccess: (voted) => {
      const item = identify(voted)
      let characters = item.prompt.length + (voted.raw?.length ?? 0)
      for (const text of item.item.completions) characters += text.length
      for (const { edited, rationale } of voted.votes) characters += (edited?.length ?? 0) + (rationale?.length ?? 0)
      return { record, item: voted.isCheck === true ? { ...item, isCheck: true } : item, characters }
    },
  })

/** Leaves out the records of the last item, because the next records may belong to the same item. */
const wholeItems = (records: ReadonlyArray<Identified>): number => {
  const itemId = records.at(-1)?.item?.itemId
  const last = itemId === undefined ? -1 : records.findLastIndex(({ item }) => item?.itemId !== itemId)
  return last === -1 ? records.length : last + 1
}

const notImported = ({ origin }: BatchItem, raw: string | undefined): Reject => ({
  ...origin,
  code: "not_imported",
  reason:
    "this job cannot take votes on this item: tasks for the item are already planned, or prefstream ledger prune has removed the item's votes. Import this vote into another job folder",
  ...(raw === undefined ? {} : { raw }),
})

const kinds: Kinds.Kinds = {
  ...Kinds.all(Kinds.anyText, "guidelines taskType"),
  maxRejects: ["a whole number, or a percentage up to 100%", RejectLimit.isLimit],
}

/**
 * Reads votes into the ledger. A stopped import can be started again: votes in the ledger count as duplicates.
 *
 * Fails with the error of `records`. Fails with `TooManyRejects`. Fails with `TermsChanged` if guidelines or task type
 * changed without `newCampaign`. Fails with `FileLockError` while another process reads the job's input.
 */
export const importVotes = Effect.fn("ImportVotes.importVotes")(function* <E, R>(
  records: Stream.Stream<VoteRecord, E, R>,
  options: ImportOptions = {},
) {
  yield* Kinds.checkStream(records, options, kinds)
  const { maxRejects, ...campaignOptions } = options
  const ledger = yield* Ledger
  yield* ledger.readAlone
  const last = yield* ledger.lastCampaign
  const before = (yield* ledger.campaigns).find(({ campaign }) => Option.contains(last, campaign))
  const terms = {
    guidelines: campaignOptions.guidelines ?? before?.guidelines,
    taskType: campaignOptions.taskType ?? before?.taskType,
  }
  const run = yield* ledger.startRun({ ...terms, shuffleSeed: false, newCampaign: campaignOptions.newCampaign })
  const counter = RejectLimit.counter(maxRejects)
  let counts: ReadCounts = nothingRead
  let votes = 0
  let ties = 0
  const unnamed = new Map<string, number>()
  const flagged = new Set<string>()
  const flagsRead = new Map<string, number>()

  const taskIdOf = (itemId: string) =>
    `${importedTaskPrefix}${Sha256.hex(JSON.stringify([run.campaign, itemId])).slice(0, 32)}`

  const add = (entry: ImportedItem.ImportedItem, vote: ImportedVote): boolean => {
    const key = ImportedItem.keyOf(vote)
    const recorded = entry.keys.get(key) ?? 0
    let read = 1
    if (vote.expert === null) {
      read = (unnamed.get(`${entry.taskId}${key}`) ?? 0) + 1
      unnamed.set(`${entry.taskId}${key}`, read)
    }
    if (read <= recorded) return false
    entry.keys.set(key, recorded + 1)
    entry.votes.push(vote)
    entry.isChanged = true
    votes++
    if ((vote.ranking?.[0]?.length ?? 1) > 1) ties++
    return true
  }

  const addFlags = (entry: ImportedItem.ImportedItem, { flags, taskId }: VotedItem) => {
    const validFlags = flagsIn({ flags })
    const source = JSON.stringify([entry.taskId, taskId])
    if (validFlags.length === 0 || flagged.has(source)) return
    flagged.add(source)
    for (const flag of validFlags) {
      const text = JSON.stringify(flag)
      const key = Sha256.hex(entry.taskId + text).slice(0, 32)
      const read = (flagsRead.get(key) ?? 0) + 1
      flagsRead.set(key, read)
      if (read <= entry.flags.filter((one) => JSON.stringify(one) === text).length) continue
      entry.flags.push(flag)
      entry.isChanged = true
    }
  }

  const decide = (entry: ImportedItem.ImportedItem, { decision }: VotedItem, places: ReadonlyArray<number>) => {
    if (decision === undefined) return
    const placedDecision = { ...decision, chosen_index: places[decision.chosen_index]! }
    if (entry.decision !== undefined && Equal.equals(placedDecision, entry.decision)) return
    entry.decision = placedDecision
    entry.isChanged = true
  }

  const step = Effect.fnUntraced(function* (records: ReadonlyArray<Identified>, finished: boolean) {
    const rejects: Array<Reject> = []
    const read: Array<{ readonly voted: VotedItem; readonly item: BatchItem }> = []
    for (const { item, record } of records) {
      if (Result.isFailure(record)) rejects.push(record.failure)
      else if (item !== undefined) read.push({ voted: record.success, item })
    }
    const items = read.map(({ item }) => item)
    const inLedger = yield* ledger.recorded(run.campaign, items)
    const stored = yield* ledger.importedTasks([...new Set(items.map(({ itemId }) => taskIdOf(itemId)))])
    const entries = new Map(stored.map((task) => [task.taskId, ImportedItem.fromStored(task)]))
    let newRecords = 0
    let knownRecords = 0
    let duplicates = 0
    for (const { item, voted } of read) {
      const taskId = taskIdOf(item.itemId)
      let entry = entries.get(taskId)
      if (entry === undefined) {
        if (inLedger.has(item.itemId)) {
          rejects.push(notImported(item, voted.raw))
          continue
        }
        entry = ImportedItem.empty(item, taskId, voted.taskId)
        entries.set(taskId, entry)
      }
      const places = ImportedItem.placesIn(entry.prompt, item)
      if (places === undefined) {
        const reject = conflict(item)
        rejects.push(voted.raw === undefined ? reject : Object.assign(reject, { raw: voted.raw }))
        continue
      }
      const isFirst = entry.votes.length === 0
      const target = entry
      addFlags(entry, voted)
      decide(entry, voted, places)
      const added = voted.votes.filter((vote) => add(target, ImportedItem.moved(vote, places))).length
      if (added === 0) duplicates++
      else if (isFirst && item.isCheck !== true) newRecords++
      else knownRecords++
    }
    counts = {
      ...counts,
      read: counts.read + records.length,
      new: counts.new + newRecords,
      known: counts.known + knownRecords,
      duplicates: counts.duplicates + duplicates,
      rejected: counts.rejected + rejects.length,
    }
    const all = [...entries.values()].filter(({ isChanged }) => isChanged)
    yield* ledger.recordImport(run, {
      tasks: all.flatMap((entry) =>
        entry.item === undefined
          ? []
          : newTasks([entry.item], { ...terms, shuffleSeed: false }).map((task) => ({
              ...task,
              taskId: entry.taskId,
              result: ImportedItem.resultOf(entry),
            })),
      ),
      changed: all.flatMap((entry) =>
        entry.item === undefined ? [{ seq: entry.seq, result: ImportedItem.resultOf(entry) }] : [],
      ),
      rejects,
      counts,
      finished,
    })
    yield* counter.add({ read: records.length, rejected: rejects.length })
  })

  const waiting: Array<Identified> = []
  let characters = 0
  const take = Effect.fnUntraced(function* (records: ReadonlyArray<VoteRecord>) {
    for (const record of records) {
      const one = identified(record)
      waiting.push(one)
      characters += one.characters
      if (waiting.length < maxStepRecords && characters < maxStepCharacters) continue
      const whole = waiting.splice(0, wholeItems(waiting))
      characters = waiting.reduce((sum, { characters }) => sum + characters, 0)
      yield* step(whole, false)
    }
  })

  /** If reading the input failed, the last item may lack some of its records, and is not imported. */
  const takeRest = (hasFailed: boolean) => {
    const last = waiting.findLast(({ item }) => item !== undefined)?.item?.itemId
    return step(hasFailed ? waiting.filter(({ item }) => item === undefined || item.itemId !== last) : waiting, false)
  }
  yield* runAndFlush(records, take, takeRest).pipe(
    Effect.andThen(counter.end),
    Effect.andThen(step([], true)),
    Effect.onExit((exit) =>
      Effect.ignore(
        ledger.endRun(run, {
          maxRejects: counter.isTooMany() && maxRejects !== undefined ? String(maxRejects) : undefined,
          failure: Exit.isFailure(exit) ? reasonOf(exit.cause) : undefined,
        }),
      ),
    ),
  )
  const imported: ImportCounts = {
    run: run.run,
    read: counts.read,
    imported: counts.new + counts.known,
    duplicates: counts.duplicates,
    rejected: counts.rejected,
    items: counts.new,
    votes,
    ties,
  }
  return imported
}, Effect.scoped)
