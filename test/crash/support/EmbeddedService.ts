/** The embedded annotation service, in this process, over a file that outlives the jobs that it serves. */
import { DatabaseSync } from "node:sqlite"
import { Effect, Logger, Redacted } from "effect"
import * as Zstd from "../../../src/node/Zstd.ts"
import type { TaskRequest } from "../../../src/domain/Task.ts"
import { start, token as redacted } from "../../service/support.ts"
import { limits } from "./RecordingService.ts"

export const token = Redacted.value(redacted)

/** Serves while `use` runs, with gold answers from a file; an item without one comes to nothing. */
export const serving = <A>(database: string, gold: string, use: (baseUrl: string) => Promise<A>): Promise<A> =>
  Effect.gen(function* () {
    const origin = yield* start({
      database,
      experts: [`gold:${gold}`, "longest"],
      turnaround: "60 millis",
      cancelUnanswered: true,
      pages: false,
      limits: { bodyBytes: limits.bodyBytes, completionsPerPrompt: limits.completions },
    })
    return yield* Effect.promise(() => use(`${origin}/v1`))
  }).pipe(Effect.scoped, Effect.provide(Logger.layer([])), Effect.runPromise)

/** The tasks that the service has, by name, with their prompts. */
export const tasksOf = (database: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const db = new DatabaseSync(database, { readOnly: true })
  try {
    const rows = db.prepare("SELECT task_id, body FROM task JOIN task_request USING (seq)").all()
    return new Map(
      rows.map(({ body, task_id }) => {
        const { prompts } = JSON.parse(Zstd.decompressText(body as Uint8Array)) as TaskRequest
        return [String(task_id), prompts.map(({ prompt }) => prompt)] as const
      }),
    )
  } finally {
    db.close()
  }
}
