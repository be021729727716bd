/**
 * Prompts, completions, and other texts of the data. They are shown as plain text, never as markup, and isolated, so
 * that their direction does not affect the surrounding text. Long texts are cut until they are expanded.
 */
import { useState } from "preact/hooks"
import type { Example } from "../../domain/QualityReport.ts"
import { characters, count, excerpt } from "./format.ts"

export const LongText = ({
  text,
  label,
  chars = 900,
  lines = 12,
}: {
  readonly text: string
  readonly label: string
  readonly chars?: number
  readonly lines?: number
}) => {
  const [isOpen, setOpen] = useState(false)
  const { shown, cut } = excerpt(text, chars, lines)
  if (text.trim() === "") return <p class="text muted">{text === "" ? "(empty)" : "(only spaces)"}</p>
  const words = isOpen ? "Show less" : `Show all ${count(characters(text))} characters`
  return (
    <>
      <div
        class={isOpen ? "text open" : "text"}
        dir="auto"
        {...(isOpen ? { tabIndex: 0, role: "region", "aria-label": label } : {})}
      >
        {isOpen ? text : shown}
        {cut && !isOpen && " …"}
      </div>
      {cut && (
        <button
          type="button"
          class="link"
          aria-expanded={isOpen}
          aria-label={`${words} of ${label}`}
          onClick={() => setOpen(!isOpen)}
        >
          {words}
        </button>
      )}
    </>
  )
}

const firstTurns = 8

const Turns = ({ turns, label }: { readonly turns: Exclude<Example["prompt"], string>; readonly label: string }) => {
  const [isAll, setAll] = useState(false)
  // The completions answer the last turns.
  const hidden = isAll ? 0 : Math.max(0, turns.length - firstTurns)
  return (
    <>
      {turns.length > firstTurns && (
        <button type="button" class="link" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? "Show the last turns only" : `Show ${count(hidden)} earlier turns`}
        </button>
      )}
      <ol class="turns" start={hidden + 1}>
        {turns.slice(hidden).map(({ content, role }, i) => (
          <li key={hidden + i} class={role === "assistant" ? "turn assistant" : "turn"}>
            <bdi class="role">{excerpt(role, 30, 1).shown}</bdi>
            <LongText text={content} label={`turn ${hidden + i + 1} of ${label}`} chars={600} lines={8} />
          </li>
        ))}
      </ol>
    </>
  )
}

export const PromptText = ({ prompt, label }: { readonly prompt: Example["prompt"]; readonly label: string }) =>
  typeof prompt === "string" ? <LongText text={prompt} label={label} /> : <Turns turns={prompt} label={label} />

export interface Answer {
  readonly title: string
  readonly text: string
  readonly tone: "chosen" | "rejected"
}

export const Comparison = ({
  prompt,
  answers,
  rationale,
  label,
}: {
  readonly prompt: Example["prompt"]
  readonly answers: ReadonlyArray<Answer>
  readonly rationale: string | null
  readonly label: string
}) => (
  <>
    <div class="part">
      <h4>Prompt</h4>
      <PromptText prompt={prompt} label={`the prompt of ${label}`} />
    </div>
    <div class="answers">
      {answers.map(({ text, title, tone }) => (
        <div key={tone} class={`answer ${tone}`}>
          <div class="answer-head">
            <h4>
              <span aria-hidden="true">{tone === "chosen" ? "✓ " : "✗ "}</span>
              {title}
            </h4>
            <span class="muted small">{count(characters(text))} characters</span>
          </div>
          <LongText text={text} label={`“${title}” of ${label}`} />
        </div>
      ))}
    </div>
    {rationale !== null && (
      <div class="part rationale">
        <h4>Rationale</h4>
        <LongText text={rationale} label={`the rationale of ${label}`} chars={500} lines={6} />
      </div>
    )}
  </>
)
