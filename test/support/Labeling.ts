/**
 * A service of another shape than the contract's, as `pipelines/own-service.ts` speaks to it: jobs of questions, whose answers
 * are numbers of options. Its answer is always the shortest option. Every third request is refused with 429, every job is open
 * when it is first asked for. Of one job it can be told to create it, and never to answer.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

interface Question {
  readonly text: string
  readonly options: ReadonlyArray<string>
}

interface Job {
  readonly external_id: string
  readonly questions: ReadonlyArray<Question>
  asked: number
}

const textOf = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const shortest = ({ options }: Question) =>
  options.reduce((best, option, i) => (option.length < options[best]!.length ? i : best), 0)

/** @param unanswered the job, from 0, of whose creation the service tells nobody */
export const make = Effect.fnUntraced(function* (unanswered?: number) {
  const jobs = new Map<string, Job>()
  let requests = 0
  let refusals = 0
  const answer = (uuid: string, isDone: boolean) => ({
    uuid,
    state: isDone ? "done" : "open",
    questions: jobs.get(uuid)!.questions.map((question) => ({
      text: question.text,
      ...(isDone && { answer: { option: shortest(question), comment: "The shortest." } }),
    })),
  })
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const send = (status: number, body: unknown) =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    const text = await textOf(request)
    if (++requests % 3 === 0) {
      refusals++
      return send(429, { error: "busy" })
    }
    if (request.method === "POST" && request.url === "/jobs") {
      const uuid = `job-${jobs.size}`
      jobs.set(uuid, { ...(JSON.parse(text) as Omit<Job, "asked">), asked: 0 })
      if (jobs.size - 1 === unanswered) return
      return send(200, answer(uuid, false))
    }
    const uuid = request.url?.slice("/jobs/".length) ?? ""
    const job = jobs.get(uuid)
    return job === undefined ? send(404, { error: "no such job" }) : send(200, answer(uuid, job.asked++ > 0))
  }
  const server = createServer((request, response) => void handle(request, response))
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      }),
  )
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    jobs: (): ReadonlyArray<Job> => [...jobs.values()],
    refusals: () => refusals,
  }
})
