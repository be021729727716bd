/**
 * Batches as requests: the bytes that go over the wire, and the idempotency key.
 *
 * Guarantees: the same items with the same terms, vote, and orders have the same key in every run; other ones another key. A
 * half of a task has the key that it would have if it had been planned so.
 */
import { Array as Arr, Bytes } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import { content, type SourceItem } from "../../domain/PromptItem.ts"
import type { Reject } from "../../domain/Reject.ts"
import { parseTaskRequest, rlhfRanking, type TaskRequest } from "../../domain/Task.ts"
import * as Sha256 from "../../node/Sha256.ts"
import {
  type BatchItem,
  type CampaignTerms,
  defaultShuffleSeed,
  type NewTask,
  type RunTerms,
  type StoredRequest,
} from "../ledger/Model.ts"
import { apply, type CompletionOrder } from "../ledger/CompletionOrder.ts"
import { promptsOf } from "../ledger/Rows.ts"
import * as Shuffle from "./Shuffle.ts"

const encoder = new TextEncoder()

/**
 * An item with its identity: the id that it has, or else the hash of its content with the completions
 * sorted, so that the same completions in another order are the same item.
 */
export const identify = ({ completionLists, completionOrigins, item, origin }: SourceItem): BatchItem => {
  const prompt = Conversation.render(item.prompt)
  const json = content({ prompt, completions: item.completions })
  const utf8 = encoder.encode(json)
  const contentHash = Sha256.hex(utf8)
  const sorted = item.completions.toSorted()
  const itemId =
    item.id ??
    (sorted.every((completion, i) => completion === item.completions[i])
      ? contentHash
      : Sha256.hex(content({ prompt, completions: sorted })))
  return { item, origin, completionLists, completionOrigins, prompt, json, utf8, contentHash, itemId }
}

/** The item under an identity of its own, where another one has the same completions in another order. */
export const identifyReordered = (item: BatchItem): BatchItem => ({
  ...item,
  itemId: Sha256.hex(`${item.itemId}:${item.contentHash}`),
})

/** Of an id that stands for other content already. */
export const conflict = ({ item, origin }: BatchItem): Reject => ({
  ...origin,
  code: "conflicting_id",
  reason: `id: expected an id of its own, found ${JSON.stringify(item.id)}, under which other content was read before`,
  raw: JSON.stringify(item),
})

/** Of an item that the service does not take. The text is left out: such items are large, and nothing is wrong with the record. */
export const tooManyCompletions = ({ item: { completions }, origin }: BatchItem, maxCompletions: number): Reject => ({
  ...origin,
  code: "too_many_completions",
  reason: `completions: expected at most ${maxCompletions}, which is what the service takes, found ${completions.length}`,
})

const comma = encoder.encode(",")

/** The text of an item with its completions in another order, and the same as UTF-8. */
const reordered = ({ item: { completions }, prompt }: BatchItem, order: ReadonlyArray<number>) => {
  const json = content({ prompt, completions: apply(completions, order) })
  return { json, utf8: encoder.encode(json) }
}

/** The tasks of a batch, one for each vote, ready to be planned. */
export const newTasks = (
  items: Arr.NonEmptyReadonlyArray<BatchItem>,
  { shuffleSeed = defaultShuffleSeed, votes = 1, ...terms }: RunTerms,
): ReadonlyArray<NewTask> =>
  Arr.makeBy(votes, (i) => {
    const vote = i + 1
    const orders =
      shuffleSeed === false
        ? []
        : items.map(({ item, itemId }) => Shuffle.ofItem(shuffleSeed, itemId, vote, item.completions.length))
    return newTask(items, terms, { orders, vote, votes })
  })

const newTask = (
  items: Arr.NonEmptyReadonlyArray<BatchItem>,
  terms: CampaignTerms,
  {
    orders,
    vote,
    votes,
  }: { readonly orders: ReadonlyArray<CompletionOrder>; readonly vote: number; readonly votes: number },
): NewTask => {
  const { guidelines, taskType = rlhfRanking } = terms
  const texts = items.map((item, i) => {
    const order = orders[i]
    return order === undefined ? item : reordered(item, order)
  })
  const start = `{"task_type":${JSON.stringify(taskType)},"prompts":[`
  const end = `]${guidelines === undefined ? "" : `,"guidelines":${JSON.stringify(guidelines)}`}}`
  const parts = texts.flatMap(({ utf8 }, i) => (i === 0 ? [utf8] : [comma, utf8]))
  return {
    items,
    orders,
    vote,
    votes,
    body: `${start}${texts.map(({ json }) => json).join(",")}${end}`,
    utf8: Bytes.concat([encoder.encode(start), ...parts, encoder.encode(end)]),
    idempotencyKey: idempotencyKey(
      { task_type: taskType, guidelines },
      items.map(({ contentHash, itemId, sentHash = contentHash }) => [itemId, sentHash]),
      vote,
      orders,
    ),
  }
}

/** A task's identity: what is asked of which items. The same task has the same key in every run. */
const idempotencyKey = (
  { task_type, guidelines }: Pick<TaskRequest, "task_type"> & { readonly guidelines?: string | undefined },
  items: ReadonlyArray<readonly [itemId: string, sentHash: string]>,
  vote: number,
  orders: ReadonlyArray<CompletionOrder>,
): string => {
  const asked = [task_type, guidelines ?? null, items]
  const isPlain = vote === 1 && orders.every((order) => order === undefined)
  return Sha256.hex(JSON.stringify(isPlain ? asked : [...asked, vote, items.map((_, i) => orders[i] ?? null)]))
}

/**
 * The same question as two tasks, the first with the larger half.
 *
 * @param vote which of its batch's tasks it is
 */
export const halve = (question: StoredRequest, vote: number) => {
  const request = parseTaskRequest(question.body)
  const middle = Math.ceil(request.prompts.length / 2)
  return [[0, middle] as const, [middle, request.prompts.length] as const].map(([start, end]) => {
    const prompts = request.prompts.slice(start, end)
    const items = question.items.slice(start, end)
    const orders = items.map(({ order }) => order)
    const identities = promptsOf(prompts, items).map(
      (prompt, i) => [items[i]!.item_id, Sha256.hex(content(prompt))] as const,
    )
    return {
      body: JSON.stringify({ ...request, prompts }),
      items,
      idempotencyKey: idempotencyKey(request, identities, vote, orders),
    }
  })
}
