/**
 * Finds missing and copied rationales.
 *
 * Guarantees: a rationale is a copy if its normal form occurred at an earlier item, or is that of the prompt, a message
 * or a completion. Memory: about 40 bytes per distinct rationale, by 52-bit hashes.
 */
import * as Conversation from "../../domain/Conversation.ts"
import type { Judgment } from "../../domain/Judgment.ts"
import * as Sha256 from "../../node/Sha256.ts"
import { textOf } from "../votes/ItemVotes.ts"
import * as NormalizedPrompt from "../text/NormalizedPrompt.ts"

export type Kind = "none" | "copied" | "own"

/** Of 52 bits, which a number holds exactly. */
const hashOf = (text: string): number => Number.parseInt(Sha256.hex(text).slice(0, 13), 16)

export const make = () => {
  const seen = new Map<number, number>()
  return {
    /** What kind of rationale a judgment has. @param item the item's number: what is said of it again is no copy */
    add: ({ annotations, completions, prompt }: Judgment, item: number): Kind => {
      const rationale = textOf(annotations.rationale)
      if (rationale === null) return "none"
      const text = NormalizedPrompt.ofText(rationale)
      const hash = hashOf(text)
      const shown = [Conversation.render(prompt), ...Conversation.contents(prompt), ...completions]
      const isCopy = (seen.get(hash) ?? item) !== item || shown.some((other) => sameText(other, text))
      if (!seen.has(hash)) seen.set(hash, item)
      return isCopy ? "copied" : "own"
    },
  }
}

const sameText = (other: string, normalized: string): boolean =>
  // What is far from it in length is not equal to it, and need not be normalized.
  other.length <= 4 * normalized.length + 64 && NormalizedPrompt.ofText(other) === normalized
