/** Counters since the start of this process. The number of series is small, and no label contains user data. */
import { Effect, Exit, Function, Metric } from "effect"

const labelled = <const Labels extends ReadonlyArray<string>, Input, State>(
  metric: Metric.Metric<Input, State>,
  ...labels: Labels
) => {
  const seriesByKey = new Map<string, Metric.Metric<Input, State>>()
  return (...values: { readonly [I in keyof Labels]: string }) => {
    const key = values.join(" ")
    const series =
      seriesByKey.get(key) ??
      Metric.withAttributes(metric, Object.fromEntries(labels.map((label, i) => [label, values[i]!])))
    seriesByKey.set(key, series)
    return series
  }
}

const counter = (name: string, description: string) => Metric.counter(name, { description, incremental: true })

const seconds = (name: string, description: string) =>
  Metric.histogram(name, {
    description,
    attributes: { unit: "seconds" },
    boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  })

const records = labelled(counter("prefstream_records_total", "Records read from the input, by outcome"), "outcome")

export const countRecords = (outcomes: {
  readonly [outcome in "new" | "known" | "duplicate" | "rejected"]: number
}) => Effect.forEach(Object.entries(outcomes), ([outcome, n]) => Metric.update(records(outcome), n), { discard: true })

const tasks = labelled(counter("prefstream_tasks_total", "Changes of a task's state, by the new state"), "state")

export const countTasks = (
  state: "submitted" | "completed" | "invalid" | "failed" | "refused" | "in_doubt",
  count: number,
) => (count === 0 ? Effect.void : Metric.update(tasks(state), count))

const deliveries = labelled(counter("prefstream_webhooks_total", "Webhooks received, by outcome"), "outcome")

export const countDelivery = (outcome: "accepted" | "refused" | "failed") => Metric.update(deliveries(outcome), 1)

const rows = counter("prefstream_exported_rows_total", "Dataset rows written")

export const countRows = (count: number) => Metric.update(rows, count)

const requests = labelled(
  Metric.gauge("prefstream_client_requests", { description: "Requests to the annotation service, by state" }),
  "state",
)

export const observeRequests = (counts: () => readonly [waiting: number, inFlight: number]) =>
  Effect.forEach(
    ["waiting", "in_flight"] as const,
    (state, i) =>
      Effect.acquireRelease(
        Effect.map(Effect.context<never>(), (context) =>
          Metric.registerUnsafe(requests(state), context, {
            get: () => ({ value: counts()[i === 0 ? 0 : 1] }),
            update: Function.constVoid,
            modify: Function.constVoid,
          }),
        ),
        (registration) => Effect.sync(() => registration.remove()),
      ),
    { discard: true },
  )

const timed = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  statusOf: (exit: Exit.Exit<A, E>) => number | "none" | undefined,
  seriesOf: (status: string) => Metric.Metric<number, unknown>,
) =>
  Effect.clockWith((clock) => {
    const start = clock.monotonicTimeNanosUnsafe()
    return Effect.onExit(effect, (exit) => {
      const status = statusOf(exit)
      return status === undefined
        ? Effect.void
        : Metric.update(seriesOf(String(status)), Number(clock.monotonicTimeNanosUnsafe() - start) / 1e9)
    })
  })

const clientSeconds = labelled(
  seconds("prefstream_client_request_seconds", "Duration of requests to the annotation service, by kind and status"),
  "request",
  "status",
)

export const timeRequest =
  (request: "create" | "poll") =>
  <A extends { readonly response: { readonly status: number } }, E, R>(effect: Effect.Effect<A, E, R>) =>
    timed(
      effect,
      (exit) => (Exit.isSuccess(exit) ? exit.value.response.status : "none"),
      (status) => clientSeconds(request, status),
    )

const serverSeconds = labelled(
  seconds("prefstream_server_request_seconds", "Duration of requests that the annotation service answered, by status"),
  "status",
)

export const timeAnswer = <A extends { readonly status: number }, E, R>(effect: Effect.Effect<A, E, R>) =>
  timed(effect, (exit) => (Exit.isSuccess(exit) ? exit.value.status : "none"), serverSeconds)

/** Like `timeAnswer`, but records nothing if `effect` returns undefined: the router then answers the request. */
export const timeFirstAnswer = <A extends { readonly status: number }, E, R>(
  effect: Effect.Effect<A | undefined, E, R>,
) => timed(effect, (exit) => (Exit.isSuccess(exit) ? exit.value?.status : undefined), serverSeconds)
