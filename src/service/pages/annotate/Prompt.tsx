/** A prompt: a text, or a conversation turn by turn, of which the completions are the next turn. */
import { useEffect, useRef } from "preact/hooks"
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { RichText } from "../shared/RichText.tsx"

export interface PromptProps {
  readonly item: Pick<HeldItem, "prompt" | "turns">
  /** As much of the prompt as there is room for; its beginning, where it is a text. */
  readonly text: string
  readonly source: boolean
}

const roles: Readonly<Record<string, string>> = { system: "System", user: "User", assistant: "Assistant", tool: "Tool" }

export const Prompt = ({ item: { prompt, turns }, text, source }: PromptProps) =>
  turns === null || source ? (
    <RichText text={text} source={source} below={2} />
  ) : (
    <Turns turns={text === prompt ? turns : endOf(turns, text.length)} />
  )

type Conversation = NonNullable<HeldItem["turns"]>

/** Where there is no room for all of them, the last ones are shown: that is what the completions answer. */
const Turns = ({ turns }: { readonly turns: Conversation }) => {
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    const box = list.current?.closest(".clamped")
    if (list.current === null || box === null || box === undefined) return undefined
    const observer = new ResizeObserver(() => box.scrollTo(0, box.scrollHeight))
    observer.observe(list.current)
    return () => observer.disconnect()
  })
  return (
    <ol class="turns" ref={list}>
      {turns.map(({ role, content }, i) => (
        <li key={i} class={`turn ${Object.hasOwn(roles, role) ? role : ""}`}>
          <h3 class="role">
            <bdi>{roles[role] ?? role}</bdi>
          </h3>
          {content.trim() === "" ? <p class="muted">(Empty.)</p> : <RichText text={content} below={3} />}
        </li>
      ))}
    </ol>
  )
}

/** The turns at the end within so many characters; the first one may be cut. */
const endOf = (turns: Conversation, characters: number): Conversation => {
  let left = characters
  return turns
    .toReversed()
    .flatMap(({ role, content }) => {
      if (left <= 0) return []
      const shown = content.slice(Math.max(0, content.length - left))
      left -= content.length + role.length
      return [{ role, content: shown }]
    })
    .toReversed()
}
