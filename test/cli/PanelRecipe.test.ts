/**
 * `pipelines/panel.ts` as its head says: `serve` with a judge and two people, and runs until all votes are there. The
 * judge's endpoint is a server of its own that speaks OpenAI's chat completions, and has its troubles.
 */
import { readFileSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Schedule } from "effect"
import { browser } from "../service/web/http.ts"
import { joined, password } from "../service/web/support.ts"
import { cliIn, cliStarted, ends, reportOf } from "../support/cli.ts"
import { jsonl } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root } from "../support/process.ts"

interface GoldItem {
  readonly prompt: string
  readonly completions: ReadonlyArray<string>
  readonly gold: { readonly best_completion_index: number }
}

const items = readFileSync(`${root}data/sample.jsonl`, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as GoldItem)
const bestOf = ({ completions, gold }: GoldItem) => completions[gold.best_completion_index]!
const itemOf = (prompt: string) => items.find((item) => item.prompt === prompt)!

/** The one of the two completions in a question that is right, in words as models write them. */
const verdictOn = (question: string): string => {
  const item = items.find(
    ({ completions, prompt }) =>
      question.includes(`\n${prompt}\n`) && completions.filter((each) => question.includes(`\n${each}\n`)).length === 2,
  )
  if (item === undefined) throw new Error(`not a question about two completions of one prompt: ${question}`)
  const [first] = item.completions
    .filter((each) => question.includes(`\n${each}\n`))
    .toSorted((a, b) => question.indexOf(`\n${a}\n`) - question.indexOf(`\n${b}\n`))
  const isShown = question.includes(`\n${bestOf(item)}\n`)
  const best = !isShown ? "tie" : first === bestOf(item) ? "A" : "B"
  return `I compared both.\n\n\`\`\`json\n${JSON.stringify({ rationale: `It is ${best}.`, best })}\n\`\`\``
}

/** An endpoint as Ollama and vLLM have it. The first requests are refused, fail, and are cut off. */
const endpoint = Effect.gen(function* () {
  const requests: Array<{ readonly url: string | undefined; readonly model: unknown }> = []
  const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { messages, model }: { messages: ReadonlyArray<{ role: string; content: string }>; model: string } =
        JSON.parse(body)
      requests.push({ url: `${request.method} ${request.url}`, model })
      const count = requests.length
      if (count === 1) {
        const error = { message: "Rate limit reached", type: "requests", code: "rate_limit_exceeded" }
        return json(response, 429, { error }, { "retry-after": "1" })
      }
      if (count === 2) return json(response, 500, { error: { message: "the model is loading", type: "server_error" } })
      if (count === 3) return request.socket.destroy()
      const content = verdictOn(messages.find(({ role }) => role === "user")!.content)
      return json(response, 200, {
        id: `chatcmpl-${count}`,
        object: "chat.completion",
        created: 1_764_000_000,
        model,
        system_fingerprint: "fp_ollama",
        choices: [{ index: 0, message: { role: "assistant", content }, logprobs: null, finish_reason: "stop" }],
        usage: {
          prompt_tokens: 300,
          completion_tokens: 30,
          total_tokens: 330,
          prompt_tokens_details: { cached_tokens: 0 },
        },
      })
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      }),
  )
  return { requests, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
})

/** Votes for the right completion of all items that a person is given; how many they were. */
const voteOnAll = Effect.fnUntraced(function* (person: Pick<ReturnType<typeof browser>, "ask">) {
  let work = yield* person.ask("POST", "/annotate/api/next", {})
  let votes = 0
  while (work.json.item !== null) {
    const { completions, item_id, prompt } = work.json.item as {
      completions: ReadonlyArray<string>
      item_id: number
      prompt: string
    }
    const best = completions.indexOf(bestOf(itemOf(prompt)))
    const vote = { best, ranking: null, rationale: "It is right.", seconds: 1 }
    work = yield* person.ask("POST", `/annotate/api/items/${item_id}/vote`, vote)
    assert.strictEqual(work.status, 200, work.text)
    votes++
  }
  return votes
})

/** The words after `prefstream` in the recipe's head, and the variables before it. */
const head = readFileSync(`${root}pipelines/panel.ts`, "utf8")
const wordsOf = (command: string): ReadonlyArray<string> => {
  const [, words = ""] = new RegExp(`npx prefstream (${command} .*?) +#`).exec(head) ?? []
  return words.split(" ")
}

const workplace = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* temporaryDirectory
  for (const name of ["data", "pipelines"]) yield* fs.symlink(`${root}${name}`, `${folder}/${name}`)
  return folder
})

describe("pipelines/panel.ts", () => {
  test("says which variable it misses", function* () {
    yield* cliIn(yield* workplace, wordsOf("run"), { PREFSTREAM_BASE_URL: "http://127.0.0.1:1/v1" }).pipe(
      ends(2, /^prefstream: PREFSTREAM_TOKEN: expected .*; set it in the environment$/m),
    )
  })

  test("makes a dataset of the votes of a judge and two people, once all are there", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* workplace
    const model = yield* endpoint
    assert.match(head, /export PREFSTREAM_JUDGE_BASE_URL=\S+\n.*npx prefstream serve/)
    const service = yield* cliStarted(
      // All that is added to the head's line: where it listens, what it stores, and no time to undo a vote.
      [...wordsOf("serve"), "--port", "0", "--database", `${folder}/service.db`, "--undo-grace", "0s"],
      { PREFSTREAM_JUDGE_BASE_URL: model.baseUrl },
    )
    const said = yield* service.says(/PREFSTREAM_BASE_URL=\S+\n[^]*PREFSTREAM_TOKEN=\S+\n/)
    const [, baseUrl = ""] = /PREFSTREAM_BASE_URL=(\S+)/.exec(said) ?? []
    const [, token = ""] = /PREFSTREAM_TOKEN=(\S+)/.exec(said) ?? []
    const [, code = ""] = /#set-up=(\S+)/.exec(yield* service.talks(/#set-up=\S+\n/)) ?? []
    const env = { PREFSTREAM_BASE_URL: baseUrl, PREFSTREAM_TOKEN: token }
    const run = cliIn(folder, [...wordsOf("run"), "--json"], env)

    // Thresholds are no matter before there are results.
    yield* run.pipe(ends(3))

    const { origin } = new URL(baseUrl)
    const operator = browser(origin)
    assert.strictEqual(
      (yield* operator.ask("POST", "/dashboard/api/set-up", { code, name: "Op", password })).status,
      200,
    )
    const votes = yield* Effect.forEach(["Ann", "Bob"], (name) =>
      Effect.flatMap(joined(origin, operator, name), voteOnAll),
    )
    assert.isAtLeast(Math.min(...votes), items.length)

    const last = yield* run
      .pipe(
        Effect.repeat({ until: ({ status }) => status === 0, schedule: Schedule.spaced("100 millis") }),
        Effect.timeout("30 seconds"),
      )
      .pipe(ends(0))
    assert.strictEqual(reportOf(last).tasks.completed?.items, votes[0])
    const pairs = yield* Effect.promise(() => jsonl(`${folder}/panel/dataset/jsonl/train-00000-of-00001.jsonl`))
    assert.isNotEmpty(pairs)
    for (const { chosen, votes } of pairs) {
      assert.strictEqual(votes, 3)
      assert.isTrue(items.some((item) => bestOf(item) === chosen))
    }
    const card = yield* fs.readFileString(`${folder}/panel/dataset/README.md`)
    assert.include(card, "qwen2.5:7b")

    // Refused, failed and cut off requests were sent again.
    assert.deepStrictEqual(
      [...new Set(model.requests.map(({ model, url }) => `${url} ${String(model)}`))],
      ["POST /v1/chat/completions qwen2.5:7b"],
    )
    const { stderr } = yield* service.stop()
    assert.lengthOf(stderr.match(/so it waits for people/g) ?? [], 1)
    assert.notMatch(stderr, /warning/)
  })
})
