/** NeMo RL (docs/guides/rm.md, dpo.md; nemo_rl/data/processors.py). The preferred completion has the lower rank. */
import { Result, Schema } from "effect"
import * as Cuts from "./Cuts.ts"
import * as PairTexts from "./PairTexts.ts"
import { AssistantTurn, isSameTurn, issueAt, messages, OpenMessages } from "./RowSchema.ts"
import { rowPerPair, type TrainerFormat } from "./TrainerFormat.ts"

const Ranked = (rank: 0 | 1) => Schema.Struct({ rank: Schema.Literal(rank), completion: AssistantTurn })

export const nemoRl: TrainerFormat = {
  name: "nemo-rl",
  warnings: Cuts.thoughts,
  reads: ["tool_calls"],
  description: "NeMo RL, reward models and DPO: context as messages, and two completions (rank 0 is preferred)",
  container: "jsonl",
  features: () => ({ context: messages, completions: { list: { struct: { rank: "int32", completion: messages } } } }),
  encoder: rowPerPair((pair) =>
    Result.map(PairTexts.toConversation(pair), ({ chosen, prompt, rejected }) => ({
      context: prompt,
      completions: [
        { rank: 0, completion: chosen },
        { rank: 1, completion: rejected },
      ],
    })),
  ),
  row: Schema.Struct({
    context: OpenMessages,
    completions: Schema.Tuple([Ranked(0), Ranked(1)]).check(
      Schema.makeFilter(([chosen, rejected]) =>
        isSameTurn(chosen.completion, rejected.completion)
          ? issueAt([1, "completion", 0, "content"], "a text that differs from the other completion")
          : undefined,
      ),
    ),
  }),
}
