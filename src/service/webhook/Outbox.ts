/**
 * Stores webhook messages and the outcomes of delivery attempts. A message about a group that may still get tasks waits
 * for the time `quiet`. Until the first attempt, the message can be withdrawn, or a newer message can replace it. An
 * operator can reschedule a message during an attempt. If this attempt fails, the next one is at the operator's time.
 * Use effects named `write…` inside `Database.write`.
 */
import { Clock, DateTime, Duration, Effect, Option, Struct } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import type { SqlClient } from "effect/sql"
import type { Delivery, DeliveryDetail } from "../pageApi/WebhookApi.ts"
import { type Outcome, verdict } from "./Attempt.ts"
import type { Endpoint } from "./Endpoint.ts"
import * as RetryPolicy from "./RetryPolicy.ts"

export interface Due {
  readonly sequence: number
  readonly message_id: string
  readonly next_attempt_at: number
  /** The key of the group if a newer message about the group may still replace this message. Otherwise null. */
  readonly gathering: string | null
  readonly payload: string
}

interface Content {
  readonly type: string
  readonly groupId: string
  readonly tasks: number
  readonly data: unknown
  /** The key of the group if a newer message about the group may replace this message. Otherwise absent. */
  readonly gathering?: string | undefined
}

/** The type of a test event. Its delivery is attempted only once. */
export const testType = "webhook.test"

export interface Page {
  readonly before?: number | undefined
  readonly limit?: number | undefined
}

type DeliveryRow = Delivery & { readonly sequence: number }

const maxPageSize = 100
/** The maximum number of attempts shown per message. An operator can resend a message any number of times. */
const attemptsShown = 200
const maxDeletedPerWrite = 500

export const make = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  endpoint: Endpoint,
  schedule: RetryPolicy.RetrySchedule,
  quiet: Duration.Duration,
) {
  const random = yield* SecureRandom.SecureRandom

  const writeMessage = Effect.fnUntraced(function* ({ data, gathering, groupId, tasks, type }: Content) {
    const now = yield* Clock.currentTimeMillis
    const message_id = `msg_${Hex.encode(yield* random.randomBytes(16))}`
    const delay = yield* RetryPolicy.delayTo(schedule, 0, 0)
    const timestamp = DateTime.formatIso(DateTime.makeUnsafe(now))
    const row = {
      message_id,
      type,
      group_id: groupId,
      tasks,
      created_at: now,
      state: "waiting",
      attempts: 0,
      step: 0,
      next_attempt_at: now + (gathering === undefined ? 0 : Duration.toMillis(quiet)) + (delay ?? 0),
      gathering: gathering ?? null,
      payload: JSON.stringify({ type, timestamp, data }),
    }
    const rows = yield* sql<{ message_id: string }>`
      INSERT INTO webhook_message ${sql.insert(row)}
      ON CONFLICT (gathering) WHERE gathering IS NOT NULL DO UPDATE SET tasks = excluded.tasks,
        created_at = excluded.created_at, next_attempt_at = excluded.next_attempt_at, payload = excluded.payload
      RETURNING message_id`
    return rows[0]!.message_id
  })

  const writeWithdrawn = (gathering: string) => sql`DELETE FROM webhook_message WHERE gathering = ${gathering}`

  /** Makes the message final: no newer message can replace it any more. Returns none if the message is not due. */
  const writeSealed = Effect.fnUntraced(function* (sequence: number) {
    const now = yield* Clock.currentTimeMillis
    const rows = yield* sql<Due>`
      UPDATE webhook_message SET gathering = NULL
      WHERE sequence = ${sequence} AND state = 'waiting' AND next_attempt_at <= ${now}
      RETURNING sequence, message_id, next_attempt_at, gathering, payload`
    return Option.fromUndefinedOr(rows[0])
  })

  const due = (now: number, limit: number, inFlight: ReadonlyArray<number>) =>
    sql<Due>`
      SELECT sequence, message_id, next_attempt_at, gathering, payload FROM webhook_message
      WHERE state = 'waiting' AND next_attempt_at <= ${now} AND NOT ${sql.in("sequence", inFlight)}
      ORDER BY next_attempt_at, sequence LIMIT ${limit}`

  const nextDue = (inFlight: ReadonlyArray<number>) =>
    Effect.map(
      sql<{ next_attempt_at: number }>`
        SELECT next_attempt_at FROM webhook_message
        WHERE state = 'waiting' AND NOT ${sql.in("sequence", inFlight)}
        ORDER BY next_attempt_at, sequence LIMIT 1`,
      (rows) => Option.map(Option.fromUndefinedOr(rows[0]), (row) => row.next_attempt_at),
    )

  const writeOutcome = Effect.fnUntraced(function* (attempted: Due, url: string, outcome: Outcome) {
    const { sequence } = attempted
    type Row = Pick<Delivery, "type" | "state" | "attempts" | "next_attempt_at"> & { step: number }
    const rows = yield* sql<Row>`
      SELECT type, state, attempts, step, next_attempt_at FROM webhook_message WHERE sequence = ${sequence}`
    const row = rows[0]
    if (row === undefined) return
    const now = yield* Clock.currentTimeMillis
    const { answer, at, error, millis, status } = outcome
    const attempt = { sequence, number: row.attempts + 1, at, url, status, error, millis, answer }
    yield* sql`INSERT INTO webhook_attempt ${sql.insert(attempt)}`
    yield* sql`
      UPDATE webhook_message SET attempts = attempts + 1, last_status = ${status} WHERE sequence = ${sequence}`

    const result = verdict(outcome)
    yield* endpoint.writeHealth(url, result === "delivered", outcome)
    // A test is not retried, because the operator sees its outcome and can repeat it.
    if (row.type === testType && result !== "delivered") yield* writeFinished(sequence, "failed", now)
    switch (result) {
      case "delivered":
        return yield* writeFinished(sequence, "delivered", now)
      case "gone":
        return yield* endpoint.writeDisabled(url, "The receiver answered 410: it wants no more deliveries.")
      case "failed": {
        const pause = RetryPolicy.pause(status ?? 0, outcome.retryAfter)
        if (pause > 0) yield* endpoint.writePause(url, now + pause)
        // An operator may have rescheduled the message during the attempt.
        const planned =
          row.type !== testType && row.state === "waiting" && row.next_attempt_at === attempted.next_attempt_at
        if (!planned || !(yield* endpoint.isAt(url))) return
        const delay = yield* RetryPolicy.delayTo(schedule, row.step + 1, outcome.retryAfter)
        if (delay === undefined) return yield* writeFinished(sequence, "failed", now)
        return yield* sql`
          UPDATE webhook_message SET step = step + 1, next_attempt_at = ${now + delay} WHERE sequence = ${sequence}`
      }
    }
  }, Effect.asVoid)

  const writeFinished = (sequence: number, state: "delivered" | "failed", now: number) =>
    sql`
      UPDATE webhook_message SET state = ${state}, next_attempt_at = NULL, finished_at = ${now}
      WHERE sequence = ${sequence}`

  /** Makes each waiting message due now, and restarts its retries. Skips messages that a newer message may replace. */
  const writeAllDue = (now: number) =>
    sql`
      UPDATE webhook_message SET step = 0, next_attempt_at = ${now}
      WHERE state = 'waiting' AND gathering IS NULL AND (next_attempt_at > ${now} OR step > 0)`

  const writeAllFailed = (now: number) =>
    sql`
      UPDATE webhook_message SET state = 'failed', next_attempt_at = NULL, finished_at = ${now}, gathering = NULL
      WHERE state = 'waiting'`

  const writeResend = Effect.fnUntraced(function* (messageId: string, now: number) {
    const rows = yield* sql`
      UPDATE webhook_message SET state = 'waiting', step = 0, next_attempt_at = ${now}, finished_at = NULL,
        gathering = NULL
      WHERE message_id = ${messageId} RETURNING sequence`
    return rows.length > 0
  })

  /** Deletes at most `maxDeletedPerWrite` old messages. Returns whether there may be more. */
  const writeForgotten = Effect.fnUntraced(function* (finishedBefore: number) {
    const rows = yield* sql`
      DELETE FROM webhook_message WHERE sequence IN (
        SELECT sequence FROM webhook_message WHERE state <> 'waiting' AND finished_at < ${finishedBefore}
        ORDER BY finished_at LIMIT ${maxDeletedPerWrite}
      ) RETURNING sequence`
    return rows.length === maxDeletedPerWrite
  })

  // While the webhook is disabled, no attempt is planned, so `next_attempt_at` is null.
  const columns = sql.literal(`sequence, message_id, type, group_id, tasks, created_at, state, attempts,
    CASE WHEN EXISTS (SELECT 1 FROM webhook_endpoint WHERE enabled = 1) THEN next_attempt_at END AS next_attempt_at,
    last_status`)

  const page = Effect.fn("Webhooks.deliveries")(function* ({ before, limit }: Page) {
    const size = Math.min(Math.max(1, limit ?? 50), maxPageSize)
    const rows = yield* sql<DeliveryRow>`
      SELECT ${columns} FROM webhook_message WHERE sequence < ${before ?? Number.MAX_SAFE_INTEGER}
      ORDER BY sequence DESC LIMIT ${size + 1}`
    const deliveries = rows.slice(0, size)
    return {
      deliveries: deliveries.map(toDelivery),
      next: rows.length > size ? deliveries[size - 1]!.sequence : null,
    }
  })

  const detail = Effect.fn("Webhooks.delivery")(function* (messageId: string) {
    const rows = yield* sql<DeliveryRow & { payload: string }>`
      SELECT ${columns}, payload FROM webhook_message WHERE message_id = ${messageId}`
    if (rows[0] === undefined) return Option.none<DeliveryDetail>()
    const { payload, ...row } = rows[0]
    const attempts = yield* sql<DeliveryDetail["attempts"][number]>`
      SELECT at, url, status, error, millis, answer FROM webhook_attempt
      WHERE sequence = ${row.sequence} ORDER BY number DESC LIMIT ${attemptsShown}`
    return Option.some<DeliveryDetail>({ delivery: toDelivery(row), payload, attempts: attempts.toReversed() })
  })

  return {
    detail,
    due,
    nextDue,
    page,
    writeAllDue,
    writeAllFailed,
    writeForgotten,
    writeMessage,
    writeOutcome,
    writeResend,
    writeSealed,
    writeWithdrawn,
  }
})

const toDelivery = (row: DeliveryRow): Delivery => Struct.omit(row, ["sequence"])

export type Outbox = Effect.Success<ReturnType<typeof make>>
