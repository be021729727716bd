/**
 * axolotl (docs/rlhf.qmd, docs/reward_modelling.qmd; src/axolotl/prompt_strategies): DPO with
 * `type: chat_template.default`, and reward models with `type: bradley_terry.chat_template`.
 *
 * The DPO strategy renders a dummy question and the answer with the chat template, and cuts where
 * it first finds the answer's text. So completions are refused that would be cut elsewhere: those
 * with white space at an end, which templates that trim (Llama 3, Gemma) take away, so that the
 * text is not found and one character is left; and those whose text stands within the dummy
 * question, `[[dummy_message]]`. One that stands in the template itself, such as `user`, is cut
 * wrongly, too: that depends on the template, and is not seen here.
 *
 * The reward strategy reads a system prompt and one question; `system`, documented as optional, is
 * always written, since the code reads it without asking.
 */
import { Result, Schema } from "effect"
import { type Format, refuse, rowPerPair } from "./TrainerFormat.ts"
import { describeValue } from "../../io/Values.ts"
import * as PairTexts from "./PairTexts.ts"
import { at, Assistant, differ, Filled, messages, OpenMessages, Text } from "./RowSchema.ts"

const dummy = "[[dummy_message]]"

/** White space as Python's `str.strip` knows it, at either end. */
const endsInWhiteSpace =
  /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]|[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/

/** What keeps axolotl from finding an answer where it stands, as what was expected. */
const cutProblem = (answer: string): string | undefined => {
  if (endsInWhiteSpace.test(answer))
    return "a text without white space at its ends, which axolotl finds again after a template"
  return dummy.includes(answer) ? `a text that does not stand within ${dummy}, where axolotl would find it` : undefined
}

const roles = ["system", "user", "assistant", "tool"]

export const axolotlChatTemplate: Format = {
  name: "axolotl-chat-template",
  description: "axolotl, DPO of type chat_template.default: messages, and chosen and rejected as a message each",
  container: "jsonl",
  features: () => ({ messages, chosen: messages.list, rejected: messages.list }),
  encoder: () =>
    rowPerPair("axolotl-chat-template", (pair) =>
      PairTexts.check(pair).pipe(
        Result.flatMap(({ prompt }) => PairTexts.toOpenMessages(prompt)),
        Result.flatMap((prompt) => PairTexts.withRoles(prompt, roles)),
        Result.flatMap((prompt) => {
          for (const side of ["chosen", "rejected"] as const) {
            const problem = cutProblem(pair[side])
            if (problem !== undefined) return refuse(side, `expected ${problem}; found ${describeValue(pair[side])}`)
          }
          return Result.succeed({
            messages: prompt,
            chosen: { role: "assistant", content: pair.chosen },
            rejected: { role: "assistant", content: pair.rejected },
          })
        }),
      ),
    ),
  row: Schema.Struct({
    messages: OpenMessages.check(
      Schema.makeFilter<typeof OpenMessages.Type>((prompt) => {
        const stranger = prompt.findIndex(({ role }) => !roles.includes(role))
        return stranger === -1 ? undefined : at([stranger, "role"], "system, user, assistant or tool")
      }),
    ),
    chosen: Assistant,
    rejected: Assistant,
  }).check(
    Schema.makeFilter(({ chosen, rejected }) => differ(chosen.content, rejected.content)),
    Schema.makeFilter((row) => {
      for (const side of ["chosen", "rejected"] as const) {
        const problem = cutProblem(row[side].content)
        if (problem !== undefined) return at([side, "content"], problem)
      }
      return undefined
    }),
  ),
}

export const axolotlBradleyTerry: Format = {
  name: "axolotl-bradley-terry",
  description:
    "axolotl, reward models of type bradley_terry.chat_template: system, input, chosen and rejected; one question each",
  container: "jsonl",
  features: () => ({ system: "string", input: "string", chosen: "string", rejected: "string" }),
  encoder: () =>
    rowPerPair("axolotl-bradley-terry", (pair) =>
      PairTexts.check(pair).pipe(
        Result.flatMap(({ prompt }) => PairTexts.toQuestion(prompt)),
        Result.map(({ question, system }) => ({
          system,
          input: question,
          chosen: pair.chosen,
          rejected: pair.rejected,
        })),
      ),
    ),
  row: Schema.Struct({ system: Text, input: Filled, chosen: Filled, rejected: Filled }).check(
    Schema.makeFilter(({ chosen, rejected }) => differ(chosen, rejected)),
  ),
}
