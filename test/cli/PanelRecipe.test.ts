/** `pipelines/panel.ts` as its head says: `serve` with a judge and two people, and runs until all votes are there. */
import { readFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Schedule } from "effect"
import { joined, judgeAll } from "../service/web/support.ts"
import { cliIn, cliServed, ends, firstOperator, recipesFolder, reportOf, rowsIn } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { test } from "../support/job.ts"
import * as JudgeStub from "../support/judgeStub.ts"
import { root, sample } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const best = new Map<unknown, string>(
  rowsIn(readFileSync(sample, "utf8")).map(({ completions, gold, prompt }) => [
    prompt,
    completions[gold.best_completion_index],
  ]),
)

/** A model that knows the best completions, in words as models write them; its first three requests fail. */
const endpoint = ScriptedService.make((request, before) => {
  const question = JudgeStub.questionOf(request)
  const verdict = JudgeStub.byValue((completion) => Number(completion === best.get(question.prompt)))(question)
  const answer = JSON.stringify({ rationale: `It is ${verdict}.`, best: verdict })
  const failures = [{ status: 429, headers: { "retry-after": "1" } }, { status: 500 }, "reset"] as const
  return failures[before.length] ?? JudgeStub.says(`I compared both.\n\n\`\`\`json\n${answer}\n\`\`\``)
})

/** The words after `prefstream` in the recipe's head, and the variables before it. */
const head = readFileSync(`${root}pipelines/panel.ts`, "utf8")
const wordsOf = (command: string): ReadonlyArray<string> => {
  const [, words = ""] = new RegExp(`npx prefstream (${command} .*?) +#`).exec(head) ?? []
  return words.split(" ")
}

describe("pipelines/panel.ts", () => {
  test("says which variable it misses", function* () {
    yield* cliIn(yield* recipesFolder, wordsOf("run"), { PREFSTREAM_BASE_URL: "http://127.0.0.1:1/v1" }).pipe(
      ends(2, /^prefstream: PREFSTREAM_TOKEN: expected .*; set it in the environment$/m),
    )
  })

  test("makes a dataset of the votes of a judge and two people, once all are there", function* () {
    const folder = yield* recipesFolder
    const model = yield* endpoint
    assert.match(head, /export PREFSTREAM_JUDGE_BASE_URL=\S+\n.*npx prefstream serve/)
    // All that is added to the head's line: where it listens, what it stores, and no time to undo a vote.
    const args = [...wordsOf("serve").slice(1), "--database", `${folder}/service.db`, "--undo-grace", "0s"]
    const served = yield* cliServed(args, "a-token", { PREFSTREAM_JUDGE_BASE_URL: model.baseUrl })
    const run = cliIn(folder, [...wordsOf("run"), "--json"], served.env)

    // Thresholds are no matter before there are results.
    yield* run.pipe(ends(3))

    const { origin } = new URL(served.env.PREFSTREAM_BASE_URL)
    const operator = yield* firstOperator(served)
    const votes = yield* Effect.forEach(["Ann", "Bob"], (name) =>
      Effect.flatMap(joined(origin, operator, name), (person) => judgeAll(person, (prompt) => best.get(prompt)!)),
    )
    assert.isAtLeast(Math.min(...votes), best.size)

    const last = yield* run
      .pipe(
        Effect.repeat({ until: ({ status }) => status === 0, schedule: Schedule.spaced("100 millis") }),
        Effect.timeout("30 seconds"),
      )
      .pipe(ends(0))
    assert.strictEqual(reportOf(last).tasks.completed?.items, votes[0])
    const pairs = yield* pairsOf(`${folder}/panel`)
    assert.isNotEmpty(pairs)
    for (const { chosen, prompt, votes } of pairs) assert.deepStrictEqual([chosen, votes], [best.get(prompt), 3])
    const card = yield* (yield* FileSystem.FileSystem).readFileString(`${folder}/panel/dataset/README.md`)
    assert.include(card, "qwen2.5:7b")

    // Refused, failed and cut off requests were sent again.
    const { received } = model
    assert.deepStrictEqual(
      [...new Set(received.map(({ body, method, path }) => `${method} ${path} ${String(JSON.parse(body).model)}`))],
      ["POST /v1/chat/completions qwen2.5:7b"],
    )
    const { stderr } = yield* served.service.stop()
    assert.lengthOf(stderr.match(/so it waits for people/g) ?? [], 1)
    assert.notMatch(stderr, /warning/)
  })
})
