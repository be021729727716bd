/**
 * Builds a request and its idempotency key for each task. The key is a hash of the task's items, terms, group, votes,
 * voters, and orders. Later runs therefore compute the same key. Requests with different bodies have different keys: a
 * service refuses a second body under a key that it knows.
 */
import { Array as Arr, Struct } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import * as ItemBytes from "../../domain/ItemBytes.ts"
import type { ItemLimits } from "../../api/ServiceProfile.ts"
import { content, type SourceItem, toJson } from "../../domain/PromptItem.ts"
import type { Reject, RejectCode } from "../../domain/Reject.ts"
import { parseTaskRequest, rlhfRanking, type TaskPrompt, type TaskRequest } from "../../domain/Task.ts"
import { charactersOf } from "../../domain/Text.ts"
import { type Voters, votersOf } from "../../domain/Voters.ts"
import * as Sha256 from "../../node/Sha256.ts"
import {
  type BatchItem,
  type CampaignTerms,
  defaultShuffleSeed,
  type NewTask,
  type RunTerms,
  type StoredRequest,
} from "../ledger/schema/Model.ts"
import type { CompletionOrder } from "../ledger/schema/CompletionOrder.ts"
import * as Payload from "../ledger/schema/Payload.ts"
import * as Shuffle from "./Shuffle.ts"

const encoder = new TextEncoder()

/** Adds an item's id and encoded bytes. The default id is the hash of the prompt and the sorted completions. */
export const identify = ({
  completionLists,
  completionOrigins,
  identity,
  item,
  origin,
  texts,
}: SourceItem): BatchItem => {
  const prompt = Conversation.render(item.prompt)
  const source = { item, origin, completionLists, completionOrigins, prompt }
  if (identity?.of === item) {
    const { bytes, contentHash, itemId } = identity
    return { ...source, bytes, contentHash, itemId }
  }
  const bytes = texts?.of === item ? ItemBytes.fromJson(texts.json) : ItemBytes.make(prompt, item.completions)
  const contentHash = Sha256.hex(bytes.utf8)
  const itemId = item.id ?? sortedHash(item.completions, bytes) ?? contentHash
  return { ...source, bytes, contentHash, itemId }
}

const sortedHash = (completions: ReadonlyArray<string>, bytes: ItemBytes.ItemBytes): string | undefined => {
  const sorted = ItemBytes.sorted(bytes, completions)
  return sorted === undefined ? undefined : Sha256.hex(sorted)
}

export const identifyReordered = (item: BatchItem): BatchItem => ({
  ...item,
  itemId: Sha256.hex(`${item.itemId}:${item.contentHash}`),
})

export const conflict = ({ item, origin }: BatchItem): Reject => ({
  ...origin,
  code: "conflicting_id",
  reason: `id: expected a unique id, found ${JSON.stringify(item.id)}, which is also the id of an earlier record with different content. If the input field that contains this id does not identify items, set \`id\` to the name of another field, or list this field in \`ignore\``,
  raw: toJson(item),
})

/** Rejects an item that exceeds a limit of the service. The reject omits the item's text, which may be large. */
export const beyondLimits = (
  { bytes, item, origin, prompt }: BatchItem,
  { maxCompletionCharacters, maxCompletions, maxPromptCharacters }: ItemLimits,
): Reject | undefined => {
  const reject = (code: RejectCode, place: string, max: string, actual: number): Reject => ({
    ...origin,
    code,
    reason: `${place}: expected at most ${max} (the service's limit), found ${actual}`,
  })
  const tooLong = (place: string, text: string, max: number) => {
    const characters = text.length > max ? charactersOf(text) : 0
    return characters > max ? reject("too_long", place, `${max} characters`, characters) : undefined
  }
  const count = ItemBytes.count(bytes)
  if (count > maxCompletions) {
    return reject("too_many_completions", "completions", String(maxCompletions), count)
  }
  const long = tooLong("prompt", prompt, maxPromptCharacters)
  if (long !== undefined || ItemBytes.maxLength(bytes) <= maxCompletionCharacters) return long
  return item.completions
    .map((text, i) => tooLong(`completions[${i}]`, text, maxCompletionCharacters))
    .find((reject) => reject !== undefined)
}

interface VotesTerms {
  readonly votes: number
  /** Maximum number of votes that a task can ask for. If it is 0, each vote has its own task. */
  readonly maxTaskVotes: number
}

const asksOf = ({ maxTaskVotes, votes }: VotesTerms): number => (votes <= maxTaskVotes ? votes : 1)

export const tasksPerBatch = (terms: VotesTerms): number => terms.votes / asksOf(terms)

export const newTasks = (
  items: Arr.NonEmptyReadonlyArray<BatchItem>,
  {
    maxTaskVotes = 0,
    peopleWhen,
    shuffleSeed = defaultShuffleSeed,
    votes: requestedVotes,
    votesUpTo: upTo,
    ...terms
  }: RunTerms & Partial<Pick<VotesTerms, "maxTaskVotes">>,
): ReadonlyArray<NewTask> => {
  const votes = requestedVotes ?? 1
  const votesUpTo = upTo ?? votes
  const asks = asksOf({ votes, maxTaskVotes })
  const voters = votersOf({ peopleWhen })
  const isNumbered = (requestedVotes ?? upTo) !== undefined
  const members = { ...terms, voters, votes: maxTaskVotes > 0 && isNumbered ? asks : undefined }
  return Arr.makeBy(votes / asks, (i) => {
    const vote = i + 1
    const orders =
      shuffleSeed === false
        ? []
        : items.map(({ bytes, itemId }) => Shuffle.ofItem(shuffleSeed, itemId, vote, ItemBytes.count(bytes)))
    const leastVotes = votesUpTo > votes ? votes : undefined
    return { ...newTask(items, members, { orders, vote }), votes: votesUpTo, leastVotes, asks, voters }
  })
}

const newTask = (
  items: Arr.NonEmptyReadonlyArray<BatchItem>,
  terms: CampaignTerms & Pick<RunTerms, "group" | "votes"> & { readonly voters: Voters | undefined },
  { orders, vote }: { readonly orders: ReadonlyArray<CompletionOrder>; readonly vote: number },
): NewTask => {
  const { group, guidelines, taskType = rlhfRanking, voters, votes } = terms
  const start = encoder.encode(`{"task_type":${JSON.stringify(taskType)},"prompts":[`)
  const members = JSON.stringify({ guidelines, group, votes, voters }).slice(1)
  const end = encoder.encode(`]${members === "}" ? "" : ","}${members}`)
  const size = items.reduce((sum, { bytes }) => sum + bytes.utf8.length + 1, start.length - 1 + end.length)
  const body = new Uint8Array(size)
  body.set(start)
  let at = start.length
  items.forEach(({ bytes }, i) => {
    if (i > 0) body[at++] = ItemBytes.comma
    at = ItemBytes.write(bytes, orders[i], body, at)
  })
  body.set(end, at)
  return {
    items,
    orders,
    vote,
    body,
    idempotencyKey: idempotencyKey(
      { task_type: taskType, guidelines, group, votes, voters },
      items.map(({ contentHash, itemId, sentHash = contentHash }) => [itemId, sentHash]),
      vote,
      orders,
    ),
  }
}

type KeyMembers = Pick<TaskRequest, "task_type"> &
  Pick<RunTerms, "guidelines" | "group" | "votes"> & { readonly voters?: Voters | undefined }

const idempotencyKey = (
  { group, guidelines, task_type, voters, votes }: KeyMembers,
  items: ReadonlyArray<readonly [itemId: string, sentHash: string]>,
  vote: number,
  orders: ReadonlyArray<CompletionOrder>,
): string => {
  const content = [task_type, guidelines ?? null, items]
  const isPlain = vote === 1 && orders.every((order) => order === undefined)
  const isExtended = [group, votes, voters].some((member) => member !== undefined)
  const members = isExtended ? [{ group, votes, voters }] : []
  const drawn = isPlain ? [] : [vote, items.map((_, i) => orders[i] ?? null)]
  return Sha256.hex(JSON.stringify([...content, ...drawn, ...members]))
}

const withKey = (
  request: TaskRequest,
  {
    items,
    prompts,
    sent,
    vote,
  }: Pick<StoredRequest, "items" | "prompts"> & { readonly sent: ReadonlyArray<TaskPrompt>; readonly vote: number },
) => ({
  body: Payload.encode(JSON.stringify({ ...request, prompts: sent })),
  prompts,
  items,
  idempotencyKey: idempotencyKey(
    request,
    prompts.map((prompt, i) => [items[i]!.item_id, Sha256.hex(content(prompt))] as const),
    vote,
    items.map(({ order }) => order),
  ),
})

export const halve = (question: StoredRequest, vote: number) => {
  const request = parseTaskRequest(Payload.decode(question.body))
  const middle = Math.ceil(request.prompts.length / 2)
  return [[0, middle] as const, [middle, request.prompts.length] as const].map(([start, end]) => {
    const sent = request.prompts.slice(start, end)
    const items = question.items.slice(start, end)
    const prompts = question.prompts.slice(start, end)
    return withKey(request, { prompts, sent, items, vote })
  })
}

export const furtherVote = (
  question: StoredRequest,
  {
    count,
    first,
    shuffleSeed,
    vote,
    voters,
  }: {
    readonly first: number
    readonly count: number
    readonly vote: number
    readonly shuffleSeed: number | false
    readonly voters: Voters | null
  },
) => {
  const { voters: _, ...whole } = parseTaskRequest(Payload.decode(question.body))
  const request = {
    ...whole,
    ...(whole.votes !== undefined && { votes: 1 }),
    ...(voters !== null && { voters }),
  }
  const prompts = question.prompts.slice(first, first + count)
  const items = question.items.slice(first, first + count).map((item, i) => {
    const order =
      shuffleSeed === false
        ? undefined
        : Shuffle.ofItem(shuffleSeed, item.item_id, vote, prompts[i]!.completions.length)
    return { ...Struct.omit(item, ["order"]), ...(order === undefined ? {} : { order }) }
  })
  const sent = prompts.map((prompt, i) => ({
    ...prompt,
    completions: items[i]!.order?.map((index) => prompt.completions[index]!) ?? prompt.completions,
  }))
  return withKey(request, { prompts, sent, items, vote })
}
