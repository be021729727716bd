/**
 * Runs the whole flow on one machine: the sample data goes to an embedded annotation service, whose expert takes the
 * gold answers from the same file.
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
