/**
 * Three people on one task, through the service's own HTTP: majority, votes, agreement and
 * recorded orders, against what is computed by hand here.
 */
import { assert } from "@effect/vitest"
import { FileSystem } from "effect"
import type { ResultItem } from "../../src/domain/Task.ts"
import type { Vote } from "../../src/domain/Vote.ts"
import { build, call, platform, task, temporaryFile } from "./support.ts"
import { liveOver } from "../support/effectTest.ts"
import { cheap, joined, signedIn } from "./web/support.ts"

/** What an expert says of one prompt, by the texts of its completions. */
interface Opinion {
  readonly best?: string
  readonly ranking?: ReadonlyArray<ReadonlyArray<string>>
  readonly rationale?: string
}

const prompts: ReadonlyArray<readonly [string, ...ReadonlyArray<string>]> = [
  ["one", "a", "b", "c"],
  ["two", "a", "b", "c"],
  ["three", "x", "y"],
]
const texts = prompts.map(([, ...completions]) => completions)

const opinions: Record<string, ReadonlyArray<Opinion>> = {
  Ann: [
    { ranking: [["c"], ["a"], ["b"]], rationale: "c, clearly" },
    { ranking: [["b"], ["a", "c"]] },
    { best: "x", rationale: "x it is" },
  ],
  Bob: [
    { ranking: [["a"], ["c"], ["b"]], rationale: "a is complete" },
    { ranking: [["a", "b"], ["c"]], rationale: "either of two" },
    { best: "y", rationale: "y it is" },
  ],
  Cem: [{ best: "a", rationale: "a" }, { ranking: [["c"], ["b"], ["a"]] }, { ranking: [["x", "y"]] }],
}

liveOver(platform)(
  "three experts on one task give the majority, votes, agreement and orders that were computed by hand",
  function* () {
    const gold = yield* temporaryFile("gold.jsonl")
    const answer = { prompt: "one", completions: ["a", "b", "c"], gold: { best_completion_index: 0 } }
    yield* (yield* FileSystem.FileSystem).writeFileString(gold, JSON.stringify(answer))
    const { base, services } = yield* cheap(build({ gold, undoGrace: 0 }))
    const operator = yield* signedIn({ base, services })

    const created = yield* call("POST", `${base}/v1/tasks`, { body: { ...task(prompts), votes: 3 } })
    assert.strictEqual(created.status, 201, created.text)
    const get = call("GET", `${base}/v1/tasks/${created.json.task_id}`)

    const ids: Record<string, string> = {}
    const shown: Record<string, Array<ReadonlyArray<number>>> = {}
    for (const [name, own] of Object.entries(opinions)) {
      const expert = yield* joined(base, operator, name)
      ids[name] = expert.expertId
      let work = yield* expert.ask("POST", "/annotate/api/next", {})
      for (const [i, { best, ranking, rationale = "" }] of own.entries()) {
        const { completions, item_id } = work.json.item as { completions: Array<string>; item_id: number }
        ;(shown[name] ??= []).push(completions.map((text) => texts[i]!.indexOf(text)))
        const placeOf = (text: string) => completions.indexOf(text)
        work = yield* expert.ask("POST", `/annotate/api/items/${item_id}/vote`, {
          best: best === undefined ? null : placeOf(best),
          ranking: ranking?.map((group) => group.map(placeOf)) ?? null,
          rationale,
          seconds: 0.01,
        })
        assert.strictEqual(work.status, 200, JSON.stringify(work.json))
      }
      assert.isNull(work.json.item)
      assert.strictEqual((yield* get).json.status, name === "Cem" ? "completed" : "in_progress")
    }

    const { results } = (yield* get).json
    const summary = results.map(({ annotations, best_completion_index, prompt }: typeof ResultItem.Type) => {
      const { agreement, ranking, rationale, tie } = annotations!
      return { prompt, best: best_completion_index, agreement, ranking, rationale, tie }
    })
    assert.deepStrictEqual(summary, [
      // First choices: c 1 (Ann), a 2 (Bob, Cem). Cem did not rank.
      { prompt: "one", best: 0, agreement: 2 / 3, ranking: undefined, rationale: "a is complete", tie: undefined },
      // First choices: b 1 + 1/2, c 1, a 1/2; nobody's choice is b but Ann's and perhaps Bob's, by the order he saw.
      {
        prompt: "two",
        best: 1,
        agreement: 1.5 / 3,
        ranking: [[1], [2], [0]],
        rationale: shown["Bob"]![1]!.indexOf(1) < shown["Bob"]![1]!.indexOf(0) ? "either of two" : "",
        tie: undefined,
      },
      // First choices: x and y 1 + 1/2 each; Borda scores only of Cem, 1/2 each; Ann voted before Bob.
      { prompt: "three", best: 0, agreement: 1 / 2, ranking: undefined, rationale: "x it is", tie: true },
    ])

    for (const [i, { annotations }] of (results as ReadonlyArray<{ annotations: { votes: Array<Vote> } }>).entries()) {
      assert.deepStrictEqual<unknown>(
        annotations.votes.map(({ expert, order }) => [expert, order]),
        Object.keys(opinions).map((name) => [ids[name], shown[name]![i]]),
      )
      for (const { seconds } of annotations.votes) assert.isTrue(seconds >= 0 && seconds <= 0.01)
    }

    // Others have a majority against Ann each time, against Bob on three, against Cem on two; gold is known of one.
    const { json } = yield* operator.ask("GET", "/dashboard/api/experts")
    assert.deepStrictEqual(
      json.experts.map((row: Record<string, unknown>) => [row["name"], row["judged"], row["majority"], row["gold"]]),
      [
        ["Ann", 3, { agreed: 0, of: 3 }, { right: 0, of: 1 }],
        ["Bob", 3, { agreed: 0, of: 1 }, { right: 1, of: 1 }],
        ["Cem", 3, { agreed: 0, of: 1 }, { right: 1, of: 1 }],
      ],
    )
  },
)
