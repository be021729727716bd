/**
 * The rejects file, which is complete or absent. It has one JSON object per line, in this order:
 * - records rejected by the last run that read input
 * - items of the same run's campaign, one line each, if all tasks of the item were refused by the service or given up
 * - records that earlier runs rejected, except records of files that a later run has read
 */
import { Effect, FileSystem, Option, PlatformError, Stream } from "effect"
import { toJson } from "../domain/PromptItem.ts"
import { type Reject, toLine } from "../domain/Reject.ts"
import * as OptionText from "../io/OptionText.ts"
import * as Sync from "../node/Sync.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import type { DroppedTask } from "../task/ledger/reads/Streams.ts"
import * as JobFolder from "./JobFolder.ts"
import * as RejectCounts from "./RejectCounts.ts"

const droppedItems = ({ items, reason, state }: DroppedTask): ReadonlyArray<Reject> =>
  items.map(({ as_messages, completions, gold, item_id, metadata, models, origin, prompt, tools }) => ({
    ...origin,
    code: state === "refused" ? "refused_by_service" : "given_up",
    reason,
    raw: toJson({ id: item_id, prompt, completions, as_messages, models, gold, metadata, tools }),
  }))

const about = (path: string, error: PlatformError.PlatformError): PlatformError.PlatformError =>
  error.reason._tag === "BadArgument"
    ? error
    : PlatformError.systemError({
        _tag: error.reason._tag,
        module: error.reason.module,
        method: error.reason.method,
        cause: error.reason.cause,
        pathOrDescriptor: path,
      })

const streams = Effect.gen(function* () {
  const ledger = yield* LedgerReader
  const run = yield* ledger.lastRun
  const ofRun = <A>(rejectsOf: (run: number) => Stream.Stream<Reject, A>) =>
    Option.match(run, { onNone: () => Stream.empty, onSome: ({ run }) => rejectsOf(run) })
  const dropped = ledger
    .dropped(Option.map(run, ({ campaign }) => campaign))
    .pipe(Stream.flatMap((task) => Stream.fromIterable(droppedItems(task))))
  return {
    last: Stream.concat(ofRun(ledger.rejects), dropped),
    earlier: ofRun((run) => ledger.earlierRejects(run, Option.none())),
  }
})

/** The content of the rejects file. */
export const rejects = Stream.unwrap(Effect.map(streams, ({ earlier, last }) => Stream.concat(last, earlier)))

export const write = Effect.fn("RejectsFile.write")(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const { earlier, last } = yield* streams
  const worded = yield* OptionText.Wording
  const file = JobFolder.rejects(directory)
  const partial = `${file}.partial`
  const encoder = new TextEncoder()
  const counts = RejectCounts.make()
  const counted = Stream.mapArray(last, (rejects) => {
    rejects.forEach(counts.add)
    return rejects
  })
  yield* Effect.gen(function* () {
    yield* Stream.concat(counted, earlier).pipe(
      Stream.mapArray((rejects) => [encoder.encode(rejects.map((reject) => toLine(reject, worded)).join(""))]),
      Stream.run(fs.sink(partial)),
    )
    const { size } = yield* fs.stat(partial)
    yield* Number(size) > 0
      ? Effect.andThen(Sync.file(partial), fs.rename(partial, file))
      : Effect.andThen(fs.remove(partial), fs.remove(file, { force: true }))
  }).pipe(
    Effect.catchTag("PlatformError", (error) => Effect.fail(about(file, error))),
    Effect.onError(() => Effect.ignore(fs.remove(partial, { force: true }))),
  )
  return counts.byCode()
})
