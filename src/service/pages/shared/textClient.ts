/**
 * Renders and compares texts in a worker, one at a time, so that no text can block the page. A job may work for three
 * seconds, and load modules for thirty seconds. If it takes longer, the job fails, the worker is terminated, and a new
 * worker runs the other jobs.
 */
import type { Difference } from "./textDifference.ts"
import { allowedImages } from "./allowedImages.ts"
import type { Job, Report } from "./textWorker.ts"
// oxlint-disable-next-line import/default -- Vite generates this export, see browser.d.ts
import workerUrl from "./textWorker.ts?worker&url"

interface Waiting {
  readonly job: Job
  readonly isWanted: () => boolean
  readonly done: (result: unknown) => void
  readonly failed: () => void
}

const maxWorkMillis = 3_000
const maxLoadMillis = 30_000

// The policy refuses all script URLs except the worker's, because the page needs no other script URL.
const policy =
  typeof trustedTypes === "undefined"
    ? undefined
    : trustedTypes.createPolicy("prefstream", {
        createScriptURL: (url) => {
          if (url !== workerUrl) throw new TypeError("Refused a script URL other than the URL of the text worker.")
          return url
        },
      })

const queue: Array<Waiting> = []
let worker: Worker | undefined
let isReady = false
let current: Waiting | undefined
let timer: ReturnType<typeof setTimeout> | undefined

const start = (): Worker => {
  const url = policy === undefined ? workerUrl : policy.createScriptURL(workerUrl)
  const made = new Worker(url, { type: "module" })
  made.addEventListener("message", ({ data: report }: MessageEvent<Report>) => {
    isReady = true
    if (report._tag !== "done") return current && limit(report._tag === "loading" ? maxLoadMillis : maxWorkMillis)
    const job = finish()
    job?.done(report.result)
    advance()
  })
  made.addEventListener("error", giveUp)
  return made
}

const limit = (millis: number) => {
  clearTimeout(timer)
  timer = setTimeout(giveUp, millis)
}

const finish = (): Waiting | undefined => {
  clearTimeout(timer)
  const job = current
  current = undefined
  return job
}

const giveUp = () => {
  worker?.terminate()
  worker = undefined
  isReady = false
  const job = finish()
  job?.failed()
  advance()
}

const advance = () => {
  while (current === undefined) {
    const next = queue.shift()
    if (next === undefined) return
    if (!next.isWanted()) continue
    current = next
    limit(isReady ? maxWorkMillis : maxLoadMillis)
    worker ??= start()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
    worker.postMessage(next.job)
  }
}

/** Starts the worker early, so that the first text need not wait for the worker's script. */
export const prepare = (): void => void (worker ??= start())

export interface Callbacks<A> {
  readonly done: (result: A) => void
  readonly failed: () => void
}

/** Queues a job. The caller calls the returned function if it no longer needs the result. */
const run = (job: Job, done: (result: unknown) => void, failed: () => void): (() => void) => {
  let wanted = true
  queue.push({
    job,
    isWanted: () => wanted,
    done: (result) => {
      if (wanted) done(result)
    },
    failed: () => {
      if (wanted) failed()
    },
  })
  advance()
  return () => {
    wanted = false
  }
}

/** Renders a text to HTML, which the caller must sanitize. */
export const render = (text: string, below: number, { done, failed }: Callbacks<string>): (() => void) =>
  run(
    { _tag: "render", text, below, images: allowedImages },
    (html) => done(typeof html === "string" ? html : ""),
    failed,
  )

export const compare = (left: string, right: string, { done, failed }: Callbacks<Difference | null>): (() => void) =>
  run(
    { _tag: "compare", left, right },
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `textWorker` answers with this type
    (result) => done(result as Difference | null),
    failed,
  )
