/**
 * Joins a file of prompts with one file of completions per model, by a key. Writes a trainer's format and a held-out
 * split.
 *
 *     npx prefstream run pipelines/joined.ts
 */
import { AnnotationService, Pipeline, Source } from "prefstream"

export default Pipeline.make({
  directory: "joined",
  source: Source.join({
    prompts: "data/joined/prompts.jsonl",
    completions: "data/joined/completions/*.jsonl",
    key: "id",
    completionPath: "choices[0].message.content",
    // Not every model answered every prompt. Keeps the prompts with at least two answers.
    missing: "keep",
  }),
  guidelines: "Prefer the completion that is correct, does what was asked, and wastes none of the reader's time.",
  service: AnnotationService.layerEmbedded({ database: "joined/service.db", experts: ["gold:data/sample.jsonl"] }),
  splits: { train: 0.9, test: 0.1 },
  formats: ["openrlhf-conversational"],
})
