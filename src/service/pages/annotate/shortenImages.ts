/** Replaces the images in an item's texts by handles (see `images`). */
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import type { Conversation } from "./Turns.tsx"

export const shortenImages = (item: HeldItem, shorten: (text: string) => string): HeldItem => {
  const turnsOf = (turns: Conversation | null) =>
    turns === null ? null : turns.map((turn) => ({ ...turn, content: shorten(turn.content) }))
  return {
    ...item,
    prompt: shorten(item.prompt),
    turns: turnsOf(item.turns),
    completions: item.completions.map(shorten),
    completion_turns: item.completion_turns.map(turnsOf),
  }
}
