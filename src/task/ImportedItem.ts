/** An item with its imported votes. Indices refer to the completions in the order of the task, not of the record. */
import { Array as Arr, Record, Schema, Struct } from "effect"
import * as Decision from "../domain/Decision.ts"
import { type Flag, flagsIn } from "../domain/Flag.ts"
import { ResultItem, type TaskPrompt } from "../domain/Task.ts"
import { type ImportedVote, onePerExpert } from "../domain/Vote.ts"
import * as VotedResult from "../domain/VotedResult.ts"
import * as Sha256 from "../node/Sha256.ts"
import type { BatchItem } from "./ledger/schema/Model.ts"

export interface ImportedItem {
  /** Undefined if the ledger already has the item. */
  readonly item: BatchItem | undefined
  /** The task's number in the ledger, or -1 if the ledger does not have the task yet. */
  readonly seq: number
  readonly taskId: string
  readonly sourceTaskId: string
  readonly prompt: TaskPrompt
  readonly votes: Array<ImportedVote>
  readonly keys: Map<string, number>
  readonly flags: Array<Flag>
  decision: Decision.Decision | undefined
  isChanged: boolean
}

const Stored = Schema.fromJsonString(Schema.Struct({ task_id: Schema.String, results: Schema.Array(ResultItem) }))
const decodeStored = Schema.decodeUnknownSync(Stored)

/** A key that is equal for votes with equal content. It ignores the expert's kind, the order, and the seconds. */
export const keyOf = (vote: ImportedVote): string => {
  const keyMembers = Object.entries(Struct.omit(vote, ["kind", "order", "seconds"]))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, typeof value === "number" ? String(value) : value] as const)
  return Sha256.hex(JSON.stringify(Object.fromEntries(keyMembers.toSorted(([a], [b]) => (a < b ? -1 : 1))))).slice(
    0,
    32,
  )
}

const countKeys = (votes: ReadonlyArray<ImportedVote>): Map<string, number> => {
  const keys = new Map<string, number>()
  for (const vote of votes) keys.set(keyOf(vote), (keys.get(keyOf(vote)) ?? 0) + 1)
  return keys
}

export const fromStored = ({
  prompts: [prompt],
  result,
  seq,
  taskId,
}: {
  readonly prompts: ReadonlyArray<TaskPrompt>
  readonly result: string
  readonly seq: number
  readonly taskId: string
}): ImportedItem => {
  const { results, task_id } = decodeStored(result)
  const { annotations: resultAnnotations, best_completion_index } = results[0]!
  const annotations = resultAnnotations ?? {}
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `resultOf` wrote it
  const votes = [...(annotations["votes"] as ReadonlyArray<ImportedVote>)]
  return {
    item: undefined,
    seq,
    taskId,
    sourceTaskId: task_id,
    prompt: prompt!,
    votes,
    keys: countKeys(votes),
    flags: [...flagsIn(annotations)],
    // `best_completion_index` is never null in an imported result, although its type allows null.
    decision:
      best_completion_index === null
        ? undefined
        : (Decision.readIn(annotations, best_completion_index) ??
          Decision.ofService(annotations, best_completion_index, prompt!.completions, onePerExpert(votes))),
    isChanged: false,
  }
}

export const empty = (item: BatchItem, taskId: string, sourceTaskId = taskId): ImportedItem => ({
  item,
  seq: -1,
  taskId,
  sourceTaskId,
  prompt: { prompt: item.prompt, completions: item.item.completions },
  votes: [],
  keys: new Map(),
  flags: [],
  decision: undefined,
  isChanged: false,
})

/** Returns, for each completion of the record, its index in `stored`. Undefined if a text differs. */
export const placesIn = (
  stored: TaskPrompt,
  { item: { completions }, prompt }: BatchItem,
): ReadonlyArray<number> | undefined => {
  if (stored.prompt !== prompt || stored.completions.length !== completions.length) return undefined
  const usedPlaces = new Set<number>()
  const places = completions.flatMap((text, i) => {
    const free = (at: number) => stored.completions[at] === text && !usedPlaces.has(at)
    const at = free(i) ? i : stored.completions.findIndex((_, at) => free(at))
    if (at === -1) return []
    usedPlaces.add(at)
    return [at]
  })
  return places.length === completions.length ? places : undefined
}

export const moved = (
  { aspects, choice, order, ranking, ...vote }: ImportedVote,
  places: ReadonlyArray<number>,
): ImportedVote => ({
  ...vote,
  choice: places[choice]!,
  ...(aspects === undefined
    ? {}
    : { aspects: Record.map(aspects, (ratings) => ratings.map((_, at) => ratings[places.indexOf(at)]!)) }),
  ...(ranking === undefined ? {} : { ranking: ranking.map((group) => Arr.map(group, (index) => places[index]!)) }),
  ...(order === undefined ? {} : { order: order.map((index) => places[index]!) }),
})

export const resultOf = ({ decision, flags, prompt, sourceTaskId, votes }: ImportedItem): string => {
  const result = VotedResult.of(prompt, votes, flags)
  const decided =
    decision === undefined ? result : Decision.decided(result, prompt.completions, onePerExpert(votes), decision)
  return JSON.stringify({ task_id: sourceTaskId, status: "completed", results: [decided] })
}
