/** Shows a prompt, which is a text or a conversation. Each completion is a possible next turn of the conversation. */
import { useEffect, useRef } from "preact/hooks"
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { RichText } from "../shared/RichText.tsx"
import { type Conversation, Turns } from "./Turns.tsx"

export interface PromptProps {
  readonly item: Pick<HeldItem, "prompt" | "turns">
  readonly text: string
  readonly source: boolean
}

export const Prompt = ({ item: { prompt, turns }, text, source }: PromptProps) =>
  turns === null || source ? (
    <RichText text={text} source={source} below={2} />
  ) : (
    <LastTurns turns={text === prompt ? turns : endOf(turns, text.length)} />
  )

/** Sets `--end` for the style sheet: the height of the last user turn and of all turns after it. */
const LastTurns = ({ turns }: { readonly turns: Conversation }) => {
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    const box = list.current?.closest<HTMLElement>(".clamped")
    if (list.current === null || box === null || box === undefined) return undefined
    const turns = list.current
    const observer = new ResizeObserver(() => {
      const lastUserTurn = [...turns.querySelectorAll(":scope > .user")].at(-1) ?? turns
      const end = turns.getBoundingClientRect().bottom - lastUserTurn.getBoundingClientRect().top
      box.style.setProperty("--end", `${Math.ceil(end)}px`)
      box.scrollTo(0, box.scrollHeight)
    })
    observer.observe(turns)
    return () => observer.disconnect()
  })
  return <Turns turns={turns} below={2} list={list} />
}

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
