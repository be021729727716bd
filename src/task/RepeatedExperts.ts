/** Warns as soon as an expert has judged an item more than once. Only the expert's first vote counts. */
import { Effect, Option, Predicate, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { excerpt } from "../io/Values.ts"

const Answer = Schema.fromJsonString(
  Schema.Struct({
    results: Schema.Array(Schema.Struct({ prompt: Schema.String, annotations: Schema.optionalKey(Schema.Unknown) })),
  }),
)
const decode = Schema.decodeOption(Answer)

const expertIn = (of: unknown): ReadonlyArray<string> =>
  Predicate.isObject(of) && Predicate.isString(of["expert"]) ? [of["expert"]] : []

const expertsIn = (answer: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const results = Option.match(decode(answer), { onNone: () => [], onSome: ({ results }) => results })
  return new Map(
    results.map(({ annotations, prompt }) => {
      const votes: unknown = Predicate.isObject(annotations) ? annotations["votes"] : undefined
      return [prompt, Array.isArray(votes) ? votes.flatMap(expertIn) : expertIn(annotations)]
    }),
  )
}

export const make = (ledger: {
  readonly resultsOfOtherVotes: (
    seq: number,
  ) => Effect.Effect<ReadonlyArray<{ readonly taskId: string; readonly result: string }>, SqlError>
}) => {
  let repeated = 0

  const check = Effect.fnUntraced(function* (
    { hasResult, seq, taskId }: { readonly seq: number; readonly taskId: string; readonly hasResult: boolean },
    answer: string,
  ) {
    if (hasResult) return
    const others = yield* ledger.resultsOfOtherVotes(seq)
    const before = others.map((other) => ({ taskId: other.taskId, experts: expertsIn(other.result) }))
    for (const [prompt, experts] of expertsIn(answer)) {
      for (const [i, expert] of experts.entries()) {
        const isTwice = experts.indexOf(expert) < i
        const first = isTwice ? { taskId } : before.find((other) => other.experts.get(prompt)?.includes(expert))
        if (first === undefined || ++repeated > 1) continue
        yield* Effect.logWarning(
          `${taskId}: ${excerpt(expert, 60)} already judged ${JSON.stringify(excerpt(prompt, 60))} in ${first.taskId}. Only the first vote of an expert on an item counts, but all votes may be billed. To avoid more such votes, stop the run. Then set fewer votes per item (\`votes\`), or ask the service for more experts`,
        )
      }
    }
  })

  const summarize = Effect.suspend(() =>
    repeated > 1
      ? Effect.logWarning(`${repeated} votes do not count, because their experts had already judged the same item`)
      : Effect.void,
  )

  return { check, summarize }
}
