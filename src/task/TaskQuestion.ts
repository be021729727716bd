/**
 * What a task asks, as the bytes that go over the wire, and what it is known by.
 *
 * Guarantees: the same items with the same terms have the same key in every run; a half of
 * a task has the key that it would have if it had been planned so.
 */
import type { Array as Arr } from "effect"
import { Bytes } from "effect"
import { content, type SourceItem } from "../domain/PromptItem.ts"
import type { Reject } from "../domain/Reject.ts"
import { parseTaskRequest, rlhfRanking, type TaskRequest } from "../domain/Task.ts"
import * as Sha256 from "../node/Sha256.ts"
import type { BatchItem } from "./Batch.ts"
import type { CampaignTerms, NewTask, TaskQuestion } from "./LedgerModel.ts"

const encoder = new TextEncoder()

/** An item with what it is known by: the id that it has, or else the hash of its content. */
export const identify = ({ item, origin }: SourceItem): BatchItem => {
  const json = content(item)
  const utf8 = encoder.encode(json)
  const contentHash = Sha256.hex(utf8)
  return { item, origin, json, utf8, contentHash, itemId: item.id ?? contentHash }
}

/** Of an id that stands for other content already. */
export const conflict = ({ item, origin }: BatchItem): Reject => ({
  ...origin,
  code: "conflicting_id",
  reason: `id: expected an id of its own, found ${JSON.stringify(item.id)}, under which other content was read before`,
  raw: JSON.stringify(item),
})

const comma = encoder.encode(",")

/** A task of these items, ready to be planned. */
export const newTask = (items: Arr.NonEmptyReadonlyArray<BatchItem>, terms: CampaignTerms): NewTask => {
  const { guidelines, taskType = rlhfRanking } = terms
  const start = `{"task_type":${JSON.stringify(taskType)},"prompts":[`
  const end = `]${guidelines === undefined ? "" : `,"guidelines":${JSON.stringify(guidelines)}`}}`
  const parts = items.flatMap((item, i) => (i === 0 ? [item.utf8] : [comma, item.utf8]))
  return {
    items,
    body: `${start}${items.map((item) => item.json).join(",")}${end}`,
    utf8: Bytes.concat([encoder.encode(start), ...parts, encoder.encode(end)]),
    idempotencyKey: idempotencyKey(
      { task_type: taskType, guidelines },
      items.map((item) => [item.itemId, item.contentHash]),
    ),
  }
}

/** A task's identity: what is asked of which items. The same task has the same key in every run. */
const idempotencyKey = (
  { task_type, guidelines }: Pick<TaskRequest, "task_type"> & { readonly guidelines?: string | undefined },
  items: ReadonlyArray<readonly [itemId: string, contentHash: string]>,
): string => Sha256.hex(JSON.stringify([task_type, guidelines ?? null, items]))

/** The same question as two tasks, the first with the larger half. */
export const halve = (question: TaskQuestion) => {
  const request = parseTaskRequest(question.body)
  const middle = Math.ceil(request.prompts.length / 2)
  return [[0, middle] as const, [middle, request.prompts.length] as const].map(([start, end]) => {
    const prompts = request.prompts.slice(start, end)
    const items = question.items.slice(start, end)
    const identities = prompts.map((prompt, i) => [items[i]!.item_id, Sha256.hex(content(prompt))] as const)
    return { body: JSON.stringify({ ...request, prompts }), items, idempotencyKey: idempotencyKey(request, identities) }
  })
}
