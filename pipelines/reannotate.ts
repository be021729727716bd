/**
 * Judges an existing preference set again: here the quickstart's, by another rule. Each pair becomes an item of two
 * completions, and experts don't know which one was chosen before. `chosen_index` of the new dataset is 0 if both
 * judgments agree.
 *
 *     npx prefstream run pipelines/quickstart.ts && npx prefstream run pipelines/reannotate.ts
 */
import { AnnotationService, Pipeline, Source } from "prefstream"

export default Pipeline.make({
  directory: "reannotate",
  source: Source.files("quickstart/dataset", { layout: "pairs" }),
  guidelines: "Prefer the shorter completion.",
  service: AnnotationService.layerEmbedded({ database: "reannotate/service.db", experts: ["shortest"] }),
})
