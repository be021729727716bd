/**
 * The steps of a batch: upload, creation, polls, and download. The creation costs money, so the attempt is recorded
 * before the request is sent. Failed steps are repeated. There is one exception: if the creation request gets no
 * response, the batch may exist, and the request is not repeated. The batch is then in doubt. A batch is also in doubt
 * if a poll or a download gets the status 404 or 410. The client searches for a batch in doubt until the endpoint has
 * the batch, or until an operator gives the batch up.
 */
import { Clock, type Duration, Effect, Option } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Backoff from "../../io/Backoff.ts"
import { count } from "../../io/Values.ts"
import { retryForever } from "../database/Database.ts"
import type { Batch, BatchClient, BatchLine } from "./BatchClient.ts"
import type { JudgeAnswers } from "./JudgeAnswers.ts"
import type { JudgeFailed } from "./JudgeFailure.ts"

const maxRetryPause = 5 * 60_000

const ended: ReadonlyArray<string> = ["completed", "failed", "expired", "cancelled"]

export interface BatchRow {
  readonly name: string
  readonly input_file: string | null
  readonly asked_at: number | null
  readonly id: string | null
  readonly gone_at: number | null
}

const sendAgain =
  "Its requests are not sent again. To send them again, restart with --judge-batch-doubts send-again; they may then be paid for twice"

export const make = (
  service: BatchClient,
  { file, sql }: JudgeAnswers,
  { model, pollInterval }: { readonly model: string; readonly pollInterval: Duration.Duration },
) => {
  /** Maps the name of each batch in doubt to the time when the doubt began, in epoch milliseconds. */
  const doubts = new Map<string, number>()

  const persistently = <A>(effect: Effect.Effect<A, SqlError>) =>
    effect.pipe(
      Effect.tapError((error) =>
        Effect.logError(`The judge answer file ${file} cannot be read or written; retrying`, error),
      ),
      Effect.retry(retryForever),
      Effect.orDie,
    )
  const record = (name: string, changes: Partial<BatchRow>) =>
    persistently(sql`UPDATE batch SET ${sql.update(changes)} WHERE name = ${name}`)

  const about = (name: string) => `Batch ${name} of judge:${model}`

  const giveUp = (name: string, why: string) => {
    doubts.delete(name)
    return Effect.logWarning(
      `${about(name)} is given up: ${why}. Its requests are sent again, and may be paid for twice`,
    )
  }

  /** Repeats a step without limit, because giving up would lose the batch. */
  const untilDone = Effect.fnUntraced(function* <A>(
    name: string,
    what: string,
    step: Effect.Effect<A, JudgeFailed>,
    isFinal: (failure: JudgeFailed) => boolean = () => false,
  ) {
    for (let failures = 1; ; failures++) {
      const result = yield* Effect.result(step)
      if (result._tag === "Success") return result.success
      const { failure } = result
      if (isFinal(failure)) return yield* failure
      if (failures === 1) yield* Effect.logWarning(`${about(name)} cannot be ${what}; retrying: ${failure.problem}`)
      yield* Effect.sleep(failure.retryAfter ?? Backoff.millisAfter(failures, 1_000, maxRetryPause))
    }
  })

  const upload = Effect.fnUntraced(function* (name: string) {
    const rows = yield* persistently(
      sql<{ request: string; body: string }>`SELECT request, body FROM batch_request WHERE batch = ${name}`,
    )
    const lines = rows.map(
      ({ body, request }) => `{"custom_id":"${request}","method":"POST","url":"/v1/chat/completions","body":${body}}\n`,
    )
    const input_file = yield* untilDone(
      name,
      "uploaded",
      service.upload(name, lines.join("")),
      ({ isPassing }) => !isPassing,
    )
    yield* record(name, { input_file })
    return input_file
  })

  /** Searches until the batch is found. With `mayRepeat`, returns `Option.none` after an answer without the batch. */
  const search = Effect.fnUntraced(function* (name: string, mayRepeat: boolean) {
    for (let searches = 0; ; searches++) {
      const listed = yield* Effect.result(service.find(name))
      if (listed._tag === "Success" && Option.isSome(listed.success)) {
        yield* Effect.logInfo(`${about(name)} exists at the endpoint, with the id ${listed.success.value.id}`)
        doubts.delete(name)
        yield* record(name, { id: listed.success.value.id })
        return Option.some(listed.success.value.id)
      }
      const isTold = listed._tag === "Success" || (listed.failure.isRefused === true && !listed.failure.isPassing)
      if (mayRepeat && isTold) {
        yield* giveUp(name, "the request to create the batch got no answer, and the endpoint does not list the batch")
        return Option.none()
      }
      if (searches === 0) {
        doubts.set(name, yield* Clock.currentTimeMillis)
        const why = listed._tag === "Success" ? "the endpoint does not list the batch" : listed.failure.problem
        yield* Effect.logWarning(
          `${about(name)} is in doubt: the request to create the batch got no answer, and ${why}. ${sendAgain}`,
        )
      }
      yield* Effect.sleep(pollInterval)
    }
  })

  /** Creates the batch. If the request gets no response, searches for the batch. Fails if the endpoint refuses it. */
  const create = Effect.fnUntraced(function* (name: string, inputFile: string) {
    const creation = Effect.gen(function* () {
      yield* record(name, { asked_at: yield* Clock.currentTimeMillis })
      const created = yield* Effect.result(service.create(name, inputFile))
      if (created._tag === "Success") yield* record(name, { id: created.success.id })
      else if (created.failure.isRefused === true) yield* record(name, { asked_at: null })
      return created
    })
    const step = Effect.gen(function* () {
      // The process waits for the response before it stops. Otherwise, nobody would know whether the batch exists.
      const created = yield* Effect.uninterruptible(creation)
      if (created._tag === "Success") return created.success.id
      if (created.failure.isRefused === true) return yield* created.failure
      return Option.getOrThrow(yield* search(name, false))
    })
    return yield* untilDone(name, "created", step, ({ isPassing }) => !isPassing)
  })

  /** Repeats a step while the endpoint answers 404 or 410. Returns none if the batch is given up. */
  const untilPresent = Effect.fnUntraced(function* <A>(
    name: string,
    what: string,
    step: Effect.Effect<A, JudgeFailed>,
    isGivenUp: boolean,
  ) {
    for (;;) {
      const result = yield* Effect.result(untilDone(name, what, step, ({ isGone }) => isGone === true))
      if (result._tag === "Success") {
        if (doubts.delete(name)) yield* record(name, { gone_at: null })
        return Option.some(result.success)
      }
      if (isGivenUp) {
        yield* giveUp(name, `the batch cannot be ${what}, because the endpoint says that the batch does not exist`)
        return Option.none()
      }
      if (!doubts.has(name)) {
        const now = yield* Clock.currentTimeMillis
        doubts.set(name, now)
        yield* record(name, { gone_at: now })
        yield* Effect.logWarning(
          `${about(name)} is in doubt (it may be lost): the endpoint says that the batch does not exist, so the batch cannot be ${what}. ${sendAgain}`,
        )
      }
      yield* Effect.sleep(pollInterval)
    }
  })

  const awaitEnd = Effect.fnUntraced(function* (name: string, id: string, isGivenUp: boolean) {
    for (;;) {
      const batch = yield* untilPresent(name, "polled", service.poll(id), isGivenUp)
      if (Option.isNone(batch) || ended.includes(batch.value.status)) return batch
      yield* Effect.sleep(pollInterval)
    }
  })

  const download = Effect.fnUntraced(function* (name: string, batch: Batch, isGivenUp: boolean) {
    let lines: ReadonlyArray<BatchLine> = []
    let unreadable = 0
    for (const file of [batch.output_file_id ?? "", batch.error_file_id ?? ""]) {
      if (file === "") continue
      const results = yield* untilPresent(name, "downloaded", service.lines(file), isGivenUp)
      if (Option.isNone(results)) continue
      lines = lines.concat(results.value.lines)
      unreadable += results.value.unreadable.length
      const [first] = results.value.unreadable
      if (first === undefined) continue
      yield* Effect.logWarning(
        `${about(name)}: ${count(results.value.unreadable.length, "line")} of its file ${file} cannot be read. The first is line ${first}`,
      )
    }
    return { lines, unreadable }
  })

  return { about, awaitEnd, create, doubts, download, persistently, search, upload }
}
