/** Caches parsed requests, up to a total size. Each shown item and each result needs the request of its task. */
import { Context, Effect, Layer, Schema } from "effect"
import { ServiceTaskRequest } from "../../api/AnnotationApi.ts"
import type { Metadata } from "../../domain/PromptItem.ts"
import type { TaskPrompt } from "../../domain/Task.ts"
import * as Zstd from "../../node/Zstd.ts"
import { Database } from "../database/Database.ts"

export interface RequestedPrompt extends TaskPrompt {
  readonly metadata?: Metadata
}

export interface TaskContent {
  readonly prompts: ReadonlyArray<RequestedPrompt>
  readonly guidelines?: string | undefined
  readonly metadata?: Metadata
}

/** The maximum total size of the cached request bodies, in bytes. Parsed texts may take twice as much memory. */
const maxBytes = 16 * 1024 * 1024

const make = Effect.gen(function* () {
  const { sql } = yield* Database
  const cache = new Map<number, { readonly content: TaskContent; readonly bytes: number }>()
  let cachedBytes = 0

  const forget = (seq: number) => {
    cachedBytes -= cache.get(seq)?.bytes ?? 0
    cache.delete(seq)
  }

  const keep = (seq: number, content: TaskContent, bytes: number) => {
    forget(seq)
    cache.set(seq, { content, bytes })
    cachedBytes += bytes
    for (const oldest of cache.keys()) {
      if (cachedBytes <= maxBytes) break
      forget(oldest)
    }
  }

  const read = Effect.fnUntraced(function* (seq: number) {
    const rows = yield* sql<{ body: Uint8Array }>`SELECT body FROM task_request WHERE seq = ${seq}`
    const text = Zstd.decompressText(rows[0]!.body)
    const content = yield* Effect.orDie(decode(text))
    keep(seq, content, text.length)
    return content
  })

  return {
    of: (seq: number) =>
      Effect.suspend(() => {
        const entry = cache.get(seq)
        if (entry === undefined) return read(seq)
        cache.delete(seq)
        cache.set(seq, entry)
        return Effect.succeed(entry.content)
      }),
    keep,
  }
})

const decode = Schema.decodeEffect(Schema.fromJsonString(ServiceTaskRequest))

export class TaskRequests extends Context.Service<TaskRequests, Effect.Success<typeof make>>()(
  "prefstream/service/TaskRequests",
) {
  static readonly layer = Layer.effect(TaskRequests, make)
}
