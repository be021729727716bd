/**
 * Finds missing and copied rationales. A copy has the same normal form as the item's prompt, a message of the prompt, a
 * completion, or the rationale of an earlier item. Memory: one entry of `HashNumbers` per distinct rationale.
 */
import { charactersAt } from "../../domain/CompletionTexts.ts"
import * as Conversation from "../../domain/Conversation.ts"
import type { Judgment } from "../../domain/Judgment.ts"
import * as Sha256 from "../../node/Sha256.ts"
import * as HashNumbers from "../stats/HashNumbers.ts"
import { textOf } from "../votes/ItemVotes.ts"
import * as NormalizedPrompt from "../text/NormalizedPrompt.ts"

export type Kind = "none" | "copied" | "own"

export const make = () => {
  const seen = HashNumbers.make()
  return {
    /** @param item the item's number, because equal rationales on the same item are not copies */
    add: ({ annotations, completions, prompt }: Judgment, item: number): Kind => {
      const rationale = textOf(annotations.rationale)
      if (rationale === null) return "none"
      const text = NormalizedPrompt.ofText(rationale)
      const hash = Sha256.leading52Bits(text)
      const near = [...completions.keys()].filter((i) => charactersAt(completions, i) <= maxLength(text))
      const shown = [Conversation.render(prompt), ...Conversation.contents(prompt), ...near.map((i) => completions[i]!)]
      const isCopy = seen.getOrSet(hash, item) !== item || shown.some((other) => sameText(other, text))
      return isCopy ? "copied" : "own"
    },
  }
}

/** Longer texts are skipped to save time: normalization rarely shortens a text to less than a quarter of its length. */
const maxLength = (normalized: string): number => 4 * normalized.length + 64

const sameText = (other: string, normalized: string): boolean =>
  other.length <= maxLength(normalized) && NormalizedPrompt.ofText(other) === normalized
