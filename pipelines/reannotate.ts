/**
 * A preference set that exists, judged again: here the quickstart's, by another rule. Each pair is an item of two
 * completions, whose order the experts don't know. `chosen_index` of the new dataset is 0 where both judgments agree.
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
