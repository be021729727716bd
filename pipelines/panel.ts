/**
 * Several experts judge each item; one of them is a language model. Items with known answers measure the experts'
 * accuracy. The dataset is written only if the thresholds are met.
 *
 * The judge is a model behind an OpenAI-compatible endpoint, here Ollama's. The model has one vote on each item, and
 * people have two. The service gets the known answers, too: it asks for them again and again.
 *
 *     export PREFSTREAM_JUDGE_BASE_URL=http://127.0.0.1:11434/v1
 *     npx prefstream serve --votes 3 --gold data/sample.jsonl --expert judge:qwen2.5:7b    # prints the token
 *     export PREFSTREAM_BASE_URL=http://127.0.0.1:8484/v1 PREFSTREAM_TOKEN=…
 *     npx prefstream run pipelines/panel.ts --once    # repeat until all votes have arrived
 */
import { NodeServices } from "@effect/platform-node"
import { Config, Effect, Layer } from "effect"
import { Pipeline, Source, Tasks } from "prefstream"

const gold = Source.gold("data/sample.jsonl").pipe(Effect.provide(NodeServices.layer))

const service = Layer.unwrap(
  Effect.gen(function* () {
    const baseUrl = yield* Config.String("PREFSTREAM_BASE_URL")
    const token = yield* Config.Redacted("PREFSTREAM_TOKEN")
    return Tasks.ServiceProfile.layer({ baseUrl, token, idempotencyKey: "honored" })
  }),
)

export default Pipeline.make({
  directory: "panel",
  source: Source.files("data/sample.jsonl"),
  guidelines: "Prefer the completion that is correct, does what was asked, and wastes none of the reader's time.",
  service,
  gold: { items: await Effect.runPromise(gold), rate: 0.1 },
  aggregate: "dawid-skene",
  minVotes: 2,
  thresholds: { "gold-accuracy": 0.8, "longer-chosen": 0.7 },
  drop: ["near-duplicates"],
})
