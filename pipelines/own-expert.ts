/**
 * Uses custom records and a custom expert. `Source.make` takes an iterable or a stream of records, in any shape that a
 * layout can read. An expert is a name and a function.
 *
 *     npx prefstream run pipelines/own-expert.ts
 */
import { Effect, Option, Stream } from "effect"
import { AnnotationService, Pipeline, Source } from "prefstream"

const records = Stream.range(1, 20).pipe(
  Stream.map((n) => ({ number: n, question: `What is ${n} times ${n}?`, good: `${n * n}`, bad: `${n + n}.` })),
)

/** Prefers a completion that is a whole number. If there is none, this expert does not vote. */
const arithmetic: AnnotationService.Expert.Expert = {
  name: "arithmetic",
  judge: ({ completions }) =>
    Effect.sync(() => {
      const best = completions.findIndex((completion) => /^\d+$/.test(completion))
      return best === -1
        ? Option.none()
        : Option.some({ best_completion_index: best, rationale: "A number, and nothing else." })
    }),
}

export default Pipeline.make({
  directory: "own-expert",
  source: Source.make(records, {
    name: "squares",
    layout: "wide",
    prompt: "question",
    completions: ["good", "bad"],
    id: "number",
  }),
  service: AnnotationService.layerEmbedded({ database: "own-expert/service.db", experts: [arithmetic] }),
})
