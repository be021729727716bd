/**
 * A language model behind OpenAI's batch interface, on a real HTTP server. It carries out the requests of a batch when
 * the batch is first polled, returns results in reverse order, and counts how often each request was paid for.
 */
import type { ServerResponse } from "node:http"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { listening, withBody } from "./listening.ts"
import * as JudgeStub from "./judgeStub.ts"

export interface InputLine {
  readonly custom_id: string
  readonly body: { readonly model: string; readonly messages: ReadonlyArray<unknown> }
}

export type Step = "upload" | "create" | "list" | "poll" | "download" | "ask"

/** A request to the stub: the step, and how many requests of this step there were before. */
export interface At {
  readonly step: Step
  readonly nth: number
}

/** What to do instead of the usual. `before`: nothing is carried out. `after`: it is carried out, and not answered. */
export type Fault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  | "before"
  | "after"

export interface BatchState {
  readonly id: string
  readonly name: string
  readonly lines: ReadonlyArray<InputLine>
  status: string
  output: string | null
  errors: string | null
  failure?: { readonly code: string; readonly message: string }
}

export interface Options {
  readonly fault?: (at: At) => Fault | undefined
  /** The end of a batch: its status, and which of its lines have results. Default: completed, all. */
  readonly end?: (
    batch: BatchState,
    nth: number,
  ) => {
    readonly status?: string
    readonly answers?: (line: InputLine, index: number) => boolean
    readonly failure?: { readonly code: string; readonly message: string }
    /** The status of a response to a line. */
    readonly lineStatus?: (line: InputLine, index: number) => number
    /** What stands in the output file for a line. */
    readonly written?: (json: string, line: InputLine) => string
  }
  /** Called after a request has been answered or cut off. */
  readonly onStep?: (at: At, phase: "received" | "done") => void
}

export interface BatchStub {
  readonly baseUrl: string
  readonly steps: Array<Step>
  readonly batches: Array<BatchState>
  /** How often each request was carried out, by its custom id. */
  readonly paid: Map<string, number>
  readonly set: (options: Options) => void
  /** How many requests of a step there were. */
  readonly times: (step: Step) => number
  /** Asserts that so many different requests were carried out, each once. */
  readonly assertPaidOnce: (requests: number) => void
}

/** Batches that are sent and polled at once. */
export const quick = { linger: "30 millis", pollInterval: "5 millis" } as const

const stepOf = (method: string, path: string): Step => {
  if (path.endsWith("/files")) return "upload"
  if (path.endsWith("/content")) return "download"
  if (path.endsWith("/chat/completions")) return "ask"
  if (method === "POST") return "create"
  return /\/batches\/[^/?]+$/.test(path) ? "poll" : "list"
}

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(typeof body === "string" ? body : JSON.stringify(body))
}

/** The content of the part `file` of a multipart body. */
const fileIn = (body: string) => {
  const start = body.indexOf("\r\n\r\n", body.indexOf('name="file"')) + 4
  return body.slice(start, body.indexOf("\r\n--", start))
}

const answerTo = ({ body }: Pick<InputLine, "body">) => {
  const question = JudgeStub.questionOf({ body: JSON.stringify(body) })
  const verdict = JudgeStub.verdict(JudgeStub.byValue((completion) => completion.length)(question))
  return verdict === "reset" ? {} : verdict.body
}

export const make = (first: Options = {}) =>
  Effect.suspend(() => {
    let options = first
    const steps: Array<Step> = []
    const times = (step: Step) => steps.filter((other) => other === step).length
    const files = new Map<string, string>()
    const batches: Array<BatchState> = []
    const paid = new Map<string, number>()

    const carryOut = (batch: BatchState) => {
      if (batch.status !== "in_progress") return
      const end = options.end?.(batch, batches.indexOf(batch)) ?? {}
      const has = end.answers ?? (() => end.failure === undefined)
      const lineOf = (line: InputLine, index: number) => {
        const status_code = end.lineStatus?.(line, index) ?? 200
        if (status_code === 200) paid.set(line.custom_id, (paid.get(line.custom_id) ?? 0) + 1)
        const body = status_code === 200 ? answerTo(line) : { error: { message: "oops" } }
        return { custom_id: line.custom_id, response: { status_code, request_id: "r", body }, error: null }
      }
      const all = batch.lines.map((line, index) => [line, has(line, index), index] as const)
      const done = all.flatMap(([line, isDone, index]) => (isDone ? [lineOf(line, index)] : []))
      const open = all.flatMap(([line, isDone]) =>
        isDone || end.failure !== undefined
          ? []
          : [{ custom_id: line.custom_id, response: null, error: { code: "batch_expired", message: "too late" } }],
      )
      const writtenOf = (line: { readonly custom_id: string }) => {
        const [json, input] = [JSON.stringify(line), batch.lines.find(({ custom_id }) => custom_id === line.custom_id)!]
        return end.written?.(json, input) ?? json
      }
      const linesOf = (lines: ReadonlyArray<{ readonly custom_id: string }>) =>
        lines.length === 0 ? null : `${lines.toReversed().map(writtenOf).join("\n")}\n`
      const fileOf = (name: string, text: string | null) => {
        if (text !== null) files.set(`${batch.id}-${name}`, text)
        return text === null ? null : `${batch.id}-${name}`
      }
      batch.output = fileOf("output", linesOf(done))
      batch.errors = fileOf("errors", linesOf(open))
      batch.status = end.status ?? "completed"
      if (end.failure !== undefined) batch.failure = end.failure
    }
    const shown = (batch: BatchState) => ({
      id: batch.id,
      object: "batch",
      status: batch.status,
      output_file_id: batch.output,
      error_file_id: batch.errors,
      errors: batch.failure === undefined ? null : { object: "list", data: [batch.failure] },
      metadata: { prefstream_batch: batch.name },
    })

    const handle = (step: Step, url: URL, body: string): readonly [status: number, body: unknown] => {
      if (step === "ask") return [200, answerTo({ body: JSON.parse(body) })]
      if (step === "upload") {
        const id = `file-${files.size}`
        files.set(id, fileIn(body))
        return [200, { id, object: "file" }]
      }
      if (step === "create") {
        const { completion_window, endpoint, input_file_id, metadata } = JSON.parse(body)
        const input = files.get(input_file_id)
        if (input === undefined || endpoint !== "/v1/chat/completions" || completion_window !== "24h")
          return [400, { error: { message: "invalid batch" } }]
        const lines = input
          .split("\n")
          .flatMap((line): ReadonlyArray<InputLine> => (line === "" ? [] : [JSON.parse(line)]))
        if (new Set(lines.map(({ custom_id }) => custom_id)).size < lines.length)
          return [400, { error: { message: "duplicate custom_id" } }]
        const batch: BatchState = {
          id: `batch_${batches.length}`,
          name: metadata.prefstream_batch,
          lines,
          status: "in_progress",
          output: null,
          errors: null,
        }
        batches.push(batch)
        return [200, { ...shown(batch), status: "validating" }]
      }
      if (step === "list") {
        // Newest first, one per page, so that a client has to read all pages.
        const newest = batches.toReversed()
        const at = newest.findIndex(({ id }) => id === url.searchParams.get("after")) + 1
        return [200, { object: "list", data: newest.slice(at, at + 1).map(shown), has_more: at + 1 < newest.length }]
      }
      const id = url.pathname.split("/").at(step === "download" ? -2 : -1)!
      if (step === "download") return files.has(id) ? [200, files.get(id)!] : [404, { error: { message: "no file" } }]
      const batch = batches.find((batch) => batch.id === id)
      if (batch === undefined) return [404, { error: { message: "no batch" } }]
      carryOut(batch)
      return [200, shown(batch)]
    }

    const serving = listening(
      withBody((request, response, bytes) => {
        const url = new URL(request.url ?? "", "http://stub")
        const step = stepOf(request.method ?? "", url.pathname)
        const at = { step, nth: times(step) }
        steps.push(step)
        const fault = options.fault?.(at)
        options.onStep?.(at, "received")
        if (typeof fault === "object") json(response, fault.status, fault.body ?? "", fault.headers)
        else {
          const [status, body] = fault === "before" ? [0, ""] : handle(step, url, bytes.toString())
          if (fault === undefined) json(response, status, body)
          else request.socket.destroy()
        }
        options.onStep?.(at, "done")
      }),
    )
    return Effect.map(serving, ({ origin }): BatchStub => ({
      baseUrl: `${origin}/v1`,
      steps,
      batches,
      paid,
      set: (next) => void (options = next),
      times,
      assertPaidOnce: (requests) =>
        assert.deepStrictEqual(
          [...paid.values()],
          Array.from({ length: requests }, () => 1),
        ),
    }))
  })
