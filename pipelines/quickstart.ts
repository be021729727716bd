/**
 * Runs the whole flow on one machine. The expert of an embedded annotation service judges the sample data by the gold
 * answers in the same file.
 *
 *     npx prefstream run pipelines/quickstart.ts
 */
import { AnnotationService, Pipeline, Source } from "prefstream"

export default Pipeline.make({
  directory: "quickstart",
  source: Source.files("data/sample.jsonl"),
  guidelines: "Prefer the completion that is correct, does what was asked, and wastes none of the reader's time.",
  service: AnnotationService.layerEmbedded({
    database: "quickstart/service.db",
    experts: ["gold:data/sample.jsonl"],
  }),
})
