/** Replaces the images in the texts of an item by handles (see `images`), for everything that shows these texts. */
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { shortening } from "../shared/images.ts"
import type { Conversation } from "./Turns.tsx"

export const withHandles = (item: HeldItem): HeldItem => {
  const shorten = shortening()
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
