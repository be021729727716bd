/** A prompt: a text, or a conversation turn by turn, of which the completions are the next turn. */
import { useEffect, useRef } from "preact/hooks"
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { RichText } from "../shared/RichText.tsx"
import { type Conversation, Turns } from "./Turns.tsx"

export interface PromptProps {
  readonly item: Pick<HeldItem, "prompt" | "turns">
  /** As much of the prompt as there is room for; its beginning, where it is a text. */
  readonly text: string
  readonly source: boolean
}

export const Prompt = ({ item: { prompt, turns }, text, source }: PromptProps) =>
  turns === null || source ? (
    <RichText text={text} source={source} below={2} />
  ) : (
    <LastTurns turns={text === prompt ? turns : endOf(turns, text.length)} />
  )

/**
 * Where there is no room for all of them, the last ones are shown: that is what the completions answer. There is room
 * for the last one of the user and what follows it, up to a limit (`--end`).
 */
const LastTurns = ({ turns }: { readonly turns: Conversation }) => {
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    const box = list.current?.closest<HTMLElement>(".clamped")
    if (list.current === null || box === null || box === undefined) return undefined
    const turns = list.current
    const observer = new ResizeObserver(() => {
      const asked = [...turns.querySelectorAll(":scope > .user")].at(-1) ?? turns
      const end = turns.getBoundingClientRect().bottom - asked.getBoundingClientRect().top
      box.style.setProperty("--end", `${Math.ceil(end)}px`)
      box.scrollTo(0, box.scrollHeight)
    })
    observer.observe(turns)
    return () => observer.disconnect()
  })
  return <Turns turns={turns} below={2} list={list} />
}

/** The turns at the end within so many characters; the first one may be cut. */
const endOf = (turns: Conversation, characters: number): Conversation => {
  let left = characters
  return turns
    .toReversed()
    .flatMap((turn) => {
      if (left <= 0) return []
      const { content, role, tool_calls = [] } = turn
      const shown = content.slice(Math.max(0, content.length - left))
      left -= content.length + role.length + tool_calls.reduce((sum, call) => sum + call.function.arguments.length, 0)
      return [{ ...turn, content: shown }]
    })
    .toReversed()
}
