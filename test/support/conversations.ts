/** Items whose prompts are conversations, or look like one, for tests. */
import * as fc from "fast-check"
import * as Conversation from "../../src/domain/Conversation.ts"
import type { Message, Prompt } from "../../src/domain/Message.ts"
import type { PromptItem, SourceItem } from "../../src/domain/PromptItem.ts"
import { difficultTexts } from "./pairs.ts"

/** The pieces that headers, their escapes and line ends are made of, and text that files are known to spoil. */
const pieces = ["[", "]", "\\", "\n", "\n\n", "\r\n", "[user]", "[user]\n", "\n\n[system]\n", "\\[a]", " ", "😀", "\0"]
export const text = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((all) => all.join("")),
  fc.constantFrom(...difficultTexts),
)
const role = fc.oneof({ weight: 4, arbitrary: fc.constantFrom("system", "user", "assistant", "tool") }, text)

const isSaid = (messages: ReadonlyArray<Message>) => messages.some(({ content }) => content.trim() !== "")

/** As an item may have it: at least one message is not blank. */
export const messages: fc.Arbitrary<Exclude<Prompt, string>> = fc
  .tuple(fc.record({ role, content: text }), fc.array(fc.record({ role, content: text }), { maxLength: 3 }))
  .map(([first, more]): Exclude<Prompt, string> => [first, ...more])
  .filter(isSaid)

/** A conversation, the very text that is sent of one, or another text. */
export const prompt: fc.Arbitrary<Prompt> = fc.oneof(
  { weight: 3, arbitrary: messages },
  messages.map(Conversation.render),
  text.filter((text) => text.trim() !== ""),
)

/**
 * `n` items, drawn by the seed, with two to four completions and the models that wrote them: no two with the same
 * text of a prompt, as a conversation and the text that is sent of it have the same content.
 */
export const items = (
  n: number,
  seed: number,
  of: (i: number) => Partial<PromptItem> = () => ({}),
): ReadonlyArray<SourceItem> => {
  const seen = new Set<string>()
  const drawn = fc.sample(prompt, { numRuns: 4 * n, seed }).filter((prompt) => {
    const sent = Conversation.render(prompt)
    return seen.size < n && !seen.has(sent) && seen.add(sent)
  })
  return drawn.map((prompt, i) => {
    const completions = Array.from({ length: 2 + (i % 3) }, (_, j) => `completion ${j} of ${i}`)
    return {
      item: {
        id: `item-${i}`,
        prompt,
        completions,
        ...(i % 4 === 0 ? {} : { models: completions.map((_, j) => `model ${j}`) }),
        ...of(i),
      },
      origin: i % 2 === 0 ? { file: "items.jsonl", line: i + 1 } : { file: "items.parquet", row: i + 1 },
      ...(i % 3 === 0 ? { completionOrigins: completions.map((_, j) => ({ file: `${j}.csv`, line: 2, row: i })) } : {}),
    }
  })
}
