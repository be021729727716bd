/**
 * An annotation service that keeps a record of every request: what the crash suite believes,
 * since it does not depend on what a killed process wrote down. It judges by itself, the same way
 * each time, and names a task by its key and what it asks, so that two undisturbed jobs have the same bytes.
 *
 * Each token has a book of its own, so that many jobs can share one server.
 */
import { createHash } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { TaskRequest } from "../../../src/domain/Task.ts"
import { bodyOf, listen } from "../../support/listening.ts"
import { declaring } from "../../support/ScriptedService.ts"

/** What makes the service do something else than judge. */
export const misfits = { failed: "(nobody can say)", invalid: "(half an answer)" }

/** The kind of expert who judges a prompt, which the result then tells: `By judge: …`. */
export const kindOf = (prompt: string): string | undefined => /^By (\w+):/.exec(prompt)?.[1]

export const limits = { bodyBytes: 5500, completions: 4 }

interface Task {
  readonly id: string
  readonly key: string
  /** The same for requests that are the same. */
  readonly name: string
  readonly prompts: ReadonlyArray<string>
  readonly body: TaskRequest
  looks: number
}

export interface Book {
  /** Each creation that was taken, also where a key made it a repetition. */
  readonly posts: Array<{ readonly id: string; readonly repeated: boolean; readonly prompts: ReadonlyArray<string> }>
  readonly tasks: Map<string, Task>
  readonly keys: Map<string, Task>
  /** Whether the service has a document, which declares `votes` and `voters`. */
  hasDocument: boolean
  /** Whether no task takes any time. */
  judgesAtOnce: boolean
  /** Told of each creation that has arrived, before it is taken; it waits for that. */
  beforeTaking: () => Promise<void>
  /** Told of each task that was taken; the answer waits for it. */
  afterTaking: (id: string) => Promise<void>
}

export interface RecordingService {
  readonly baseUrl: string
  /** The book of a token; opened with a copy of another's tasks, where one is named. */
  readonly book: (token: string, from?: string) => Book
  readonly close: () => Promise<void>
}

const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16)

/** One vote for each that is asked for: judges often agree, and another person votes in each task. */
const votesOf = (
  id: string,
  { voters, votes = 1 }: TaskRequest,
  { completions, prompt }: TaskRequest["prompts"][number],
) =>
  Array.from({ length: votes }, (_, i) => {
    const expert = voters === "judges" ? `judge:${i}` : `person ${digest(id)}`
    const isRight = parseInt(digest([expert, prompt]).slice(0, 8), 16) % 4 > 0
    const choice = completions.indexOf(completions.toSorted()[isRight ? 0 : 1]!)
    return { expert, kind: voters === "judges" ? "judge" : "person", choice }
  })

/** Declares, besides what the contract has, that a task may have these members. */
const declared = declaring(
  { votes: { type: "integer", maximum: 5 }, voters: { type: "string", enum: ["judges", "people"] } },
  { parameters: [{ name: "idempotency-key", in: "header" }] },
)

const resultOf = ({ body, id }: Task) => {
  if (body.prompts.some(({ prompt }) => prompt.includes(misfits.failed))) return { task_id: id, status: "failed" }
  const results = body.prompts.map(({ completions, prompt }) => ({
    prompt,
    best_completion_index: parseInt(digest(prompt).slice(0, 8), 16) % completions.length,
    annotations:
      body.voters === undefined
        ? {
            rationale: `because of ${digest(completions)}`,
            ...(kindOf(prompt) !== undefined && { kind: kindOf(prompt) }),
          }
        : { votes: votesOf(id, body, { prompt, completions }) },
  }))
  const half = body.prompts.some(({ prompt }) => prompt.includes(misfits.invalid))
  return { task_id: id, status: "completed", results: half ? results.slice(1) : results }
}

export const start = async (keys: "honored" | "ignored", bodyBytes = limits.bodyBytes): Promise<RecordingService> => {
  const books = new Map<string, Book>()
  const book = (token: string, from?: string): Book => {
    const found = books.get(token)
    if (found !== undefined) return found
    const tasks = [...(from === undefined ? [] : book(from).tasks)]
    const opened: Book = {
      posts: [],
      tasks: new Map(tasks.map(([id, task]) => [id, { ...task }])),
      keys: new Map(from === undefined ? [] : book(from).keys),
      hasDocument: false,
      judgesAtOnce: false,
      beforeTaking: () => Promise.resolve(),
      afterTaking: () => Promise.resolve(),
    }
    books.set(token, opened)
    return opened
  }

  const create = (book: Book, bytes: Buffer, key: string): readonly [number, { readonly task_id?: string }] => {
    const body = JSON.parse(bytes.toString()) as TaskRequest
    if (bytes.length > bodyBytes) return [413, {}]
    if (body.prompts.some(({ completions }) => completions.length > limits.completions)) {
      return [422, {}]
    }
    const prompts = body.prompts.map(({ prompt }) => prompt)
    const before = keys === "honored" ? book.keys.get(key) : undefined
    if (before !== undefined) {
      book.posts.push({ id: before.id, repeated: true, prompts })
      return [200, { task_id: before.id }]
    }
    // A second task under the same key would have another name, and spoil the bytes.
    const name = digest([key, body])
    const copies = [...book.tasks.values()].filter((task) => task.name === name).length
    const id = `task_${name}${copies === 0 ? "" : `_${copies + 1}`}`
    const task = { id, key, name, prompts, body, looks: 0 }
    book.tasks.set(id, task)
    book.keys.set(key, task)
    book.posts.push({ id, repeated: false, prompts })
    return [201, { task_id: id }]
  }

  const answer = async (request: IncomingMessage): Promise<readonly [number, unknown]> => {
    const bytes = await bodyOf(request)
    const opened = books.get(request.headers.authorization?.replace("Bearer ", "") ?? "")
    if (opened === undefined) return [401, {}]
    if (request.method === "POST") {
      await opened.beforeTaking()
      const created = create(opened, bytes, String(request.headers["idempotency-key"]))
      if (created[1].task_id !== undefined) await opened.afterTaking(created[1].task_id)
      return created
    }
    if (opened.hasDocument && request.url?.endsWith("/openapi.json") === true) return [200, declared]
    const task = opened.tasks.get(request.url?.split("/").at(-1) ?? "")
    if (task === undefined) return [404, {}]
    // Every third task takes some time.
    task.looks++
    const pending = !opened.judgesAtOnce && task.looks === 1 && parseInt(task.id.slice(5, 9), 16) % 3 === 0
    return [200, pending ? { task_id: task.id, status: "pending" } : resultOf(task)]
  }

  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const [status, body] = await answer(request)
      response.writeHead(status, { "content-type": "application/json" })
      response.end(JSON.stringify(body))
    } catch {
      // The connection broke off: its process was killed.
      response.destroy()
    }
  }
  const { close, origin } = await listen((request, response) => void respond(request, response))
  return { baseUrl: `${origin}/v1`, book, close }
}
