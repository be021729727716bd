/**
 * A job in a folder of its own, whose commands can be watched and killed, and what must be true
 * of it when it is over.
 */
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { Effect } from "effect"
import { assert } from "vitest"
import type { Manifest } from "../../../src/dataset/Manifest.ts"
import type { RunReport } from "../../../src/pipeline/RunReport.ts"
import { cli } from "../../support/cli.ts"
import { threads } from "../../support/cases.ts"
import { datasetHashes } from "../../support/hashes.ts"
import { platform } from "../../support/job.ts"
import { type Ended, type Running, spawned } from "../../support/process.ts"
import type { Moment, Traced } from "../fixtures/killAt.ts"

const preload = fileURLToPath(new URL("../fixtures/killAt.ts", import.meta.url))

export interface Job {
  /** prefstream, as a file that Node runs. */
  readonly program: string
  readonly folder: string
  readonly env: Record<string, string>
}

const running = new Set<Running["child"]>()

/** Ends what a test that failed has left behind. */
export const stopAll = () => running.forEach((child) => child.kill("SIGKILL"))

/** Starts `prefstream ARGS --dir FOLDER --json` under the preload. */
export const start = (job: Job, args: ReadonlyArray<string>, env: Record<string, string> = {}): Running => {
  const command = ["--import", preload, job.program, ...args, "--dir", job.folder, "--json"]
  const started = spawned(process.execPath, command, {
    env: { ...job.env, PREFSTREAM_THREADS: threads, CRASH_FOLDER: job.folder, ...env },
  })
  running.add(started.child)
  void started.ended.then(() => running.delete(started.child))
  return started
}

export const reportOf = ({ stderr, stdout }: Pick<Ended, "stdout" | "stderr">): RunReport => {
  assert.match(stdout, /^\{.*\}\n$/, stderr)
  return JSON.parse(stdout) as RunReport
}

/** Told of each process that is started. */
export type OnStart = (process: Running) => void

const nobody: OnStart = () => undefined

/** Runs a command to its end; its report with the exit status. */
export const finish = async (job: Job, args: ReadonlyArray<string>, onStart = nobody) => {
  const process = start(job, args)
  onStart(process)
  const ended = await process.ended
  return { ...reportOf(ended), exitStatus: ended.status }
}

/** Runs a command to its end in this process, for what comes before and after the one that is tried. */
export const command = (job: Job, args: ReadonlyArray<string>) =>
  Effect.runPromise(Effect.provide(cli([...args, "--dir", job.folder, "--json"], job.env), platform))

/** The same of a command that reports; its report with the exit status. */
export const finishHere = async (job: Job, args: ReadonlyArray<string>) => {
  const said = await command(job, args)
  return { ...reportOf(said), exitStatus: said.status as number | null }
}

const sha256 = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex")

/** Whatever a process died of: what stands in the dataset's place is a whole one, or nothing. */
const isWhole = ({ folder }: Job) => {
  if (!existsSync(`${folder}/dataset`)) return
  const manifest = JSON.parse(readFileSync(`${folder}/dataset/manifest.json`, "utf8")) as Manifest
  for (const file of manifest.files) assert.strictEqual(sha256(`${folder}/dataset/${file.path}`), file.sha256)
}

/** Runs a command that is killed at a moment. Fails where it ends before that moment comes. */
export const killedAt = async (job: Job, args: ReadonlyArray<string>, moment: Moment, onStart = nobody) => {
  const process = start(job, args, { CRASH_AT: JSON.stringify([moment]) })
  onStart(process)
  const { signal, stderr, stdout } = await process.ended
  assert.strictEqual(signal, "SIGKILL", `it ended without ${JSON.stringify(moment)}:\n${stdout}${stderr}`)
  isWhole(job)
}

/**
 * Runs a command until it ends, killed at whichever of these moments comes first, and never twice at the same one.
 * Where all have come, it is run to its end in this process.
 */
export const killedInTurn = async (job: Job, args: ReadonlyArray<string>, moments: ReadonlyArray<Moment>) => {
  const file = `${job.folder}.killed`
  let left = moments
  while (left.length > 0) {
    const ended = await start(job, args, { CRASH_AT: JSON.stringify(left), CRASH_TRACE: file }).ended
    isWhole(job)
    const { killed } = JSON.parse(readFileSync(file, "utf8").trimEnd().split("\n").at(-1)!) as {
      killed?: ReadonlyArray<Moment>
    }
    rmSync(file)
    if (killed === undefined) return { left, report: { ...reportOf(ended), exitStatus: ended.status } }
    left = left.filter((moment) => !killed.some((at) => isDeepStrictEqual(moment, at)))
  }
  return { left, report: await finishHere(job, args) }
}

/** Runs a command that is killed after a time, counted from its first event. Its report where it has ended before. */
export const killedAfter = async (job: Job, args: ReadonlyArray<string>, millis: number) => {
  const ended = await start(job, args, { CRASH_AFTER: String(millis) }).ended
  isWhole(job)
  return ended.signal === "SIGKILL" ? undefined : { ...reportOf(ended), exitStatus: ended.status }
}

export interface Trace {
  readonly lines: ReadonlyArray<Traced>
  /** How often each event happened. */
  readonly totals: ReadonlyMap<string, number>
  /** Milliseconds from the first event to the end of the process. */
  readonly took: number
}

const readTrace = (file: string): Trace => {
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Traced)
  const { took = 0 } = lines.pop() ?? {}
  const totals = new Map<string, number>()
  for (const line of lines) {
    for (const [event, times] of Object.entries(line)) totals.set(event, (totals.get(event) ?? 0) + times)
  }
  return { lines, totals, took }
}

/** Runs a command undisturbed, and tells what it did. */
export const traced = async (job: Job, args: ReadonlyArray<string>, onStart = nobody) => {
  const file = `${job.folder}.trace`
  const process = start(job, args, { CRASH_TRACE: file })
  onStart(process)
  const ended = await process.ended
  const trace = readTrace(file)
  rmSync(file)
  return { ended, trace }
}

/** The same of a command that reports. */
export const watched = async (job: Job, args: ReadonlyArray<string>, onStart = nobody) => {
  const { ended, trace } = await traced(job, args, onStart)
  return { ...reportOf(ended), exitStatus: ended.status, trace }
}

// What can be seen of a job when nobody works at it.

/** The rows of a query over the ledger. */
export const rows = (job: Job, sql: string): ReadonlyArray<Record<string, unknown>> => {
  const db = new DatabaseSync(`${job.folder}/ledger.db`, { readOnly: true })
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}

/** All that a job comes to, but for times: what a killed one must have in common with the undisturbed one. */
export const outcome = (job: Job) => {
  assert.deepEqual(rows(job, "PRAGMA integrity_check"), [{ integrity_check: "ok" }])
  return {
    files: readdirSync(job.folder)
      .filter((name) => !/-(shm|wal)$/.test(name))
      .toSorted(),
    dataset: existsSync(`${job.folder}/dataset`) ? datasetHashes(`${job.folder}/dataset`) : {},
    rejects: existsSync(`${job.folder}/rejects.jsonl`)
      ? readFileSync(`${job.folder}/rejects.jsonl`, "utf8")
      : undefined,
    tasks: rows(job, "SELECT seq, item_count, new_items, batch, vote, votes, state, task_id FROM task ORDER BY seq"),
    items: rows(job, "SELECT item_id, content_hash, seq FROM item ORDER BY item_id"),
    results: rows(job, "SELECT seq FROM task_result ORDER BY seq"),
  }
}

/** What was read and what became of it; not how many runs it took. */
export const accounts = (report: RunReport & { readonly exitStatus: number | null }) => {
  const { duplicates, exitStatus, not_submitted, read, rejected, status, submitted, tasks } = report
  assert.strictEqual(read, submitted + not_submitted + duplicates + rejected)
  return { duplicates, exitStatus, not_submitted, read, rejected, status, submitted, tasks }
}
