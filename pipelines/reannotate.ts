/**
 * Annotates an existing preference dataset again: here, that of `quickstart.ts`, by another rule. Each pair becomes an
 * item with two completions. Experts don't see which one was chosen before. `chosen_index` of the new dataset is 0 if
 * both judgments agree.
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
