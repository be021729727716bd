/** Shows texts of the data as plain text. Their writing direction does not affect the text around them. */
import { useState } from "preact/hooks"
import type { Example } from "../../domain/QualityReport.ts"
import { Button } from "../../service/pages/shared/Button.tsx"
import * as Shared from "../../service/pages/shared/LongText.tsx"
import { characters, count, excerpt } from "./format.ts"

interface LongTextProps {
  readonly text: string
  readonly label: string
  readonly chars?: number
  readonly lines?: number
}

export const LongText = ({ text, label, chars = 900, lines = 12 }: LongTextProps) => {
  const { shown } = excerpt(text, chars, lines)
  return <Shared.LongText text={text} beginning={shown} label={label} characters={characters(text)} />
}

const firstTurns = 8

const Turns = ({ turns, label }: { readonly turns: Exclude<Example["prompt"], string>; readonly label: string }) => {
  const [isAll, setAll] = useState(false)
  const hidden = isAll ? 0 : Math.max(0, turns.length - firstTurns)
  return (
    <>
      {turns.length > firstTurns && (
        <Button
          look="link"
          text={isAll ? "Show only the last turns" : `Show ${count(hidden)} earlier turns`}
          aria-expanded={isAll}
          onClick={() => setAll(!isAll)}
        />
      )}
      <ol class="plain-list stack tight turns" start={hidden + 1}>
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

const PromptText = ({ prompt, label }: { readonly prompt: Example["prompt"]; readonly label: string }) =>
  typeof prompt === "string" ? <LongText text={prompt} label={label} /> : <Turns turns={prompt} label={label} />

interface Answer {
  readonly title: string
  readonly text: string
  readonly tone: "chosen" | "rejected"
}

interface ComparisonProps extends Pick<Example, "prompt" | "rationale"> {
  readonly answers: ReadonlyArray<Answer>
  readonly label: string
}

export const Comparison = ({ prompt, answers, rationale, label }: ComparisonProps) => (
  <>
    <div class="part">
      <h4>Prompt</h4>
      <PromptText prompt={prompt} label={`the prompt of ${label}`} />
    </div>
    <div class="grid answers">
      {answers.map(({ text, title, tone }) => (
        <div key={tone} class={`answer ${tone}`}>
          <div class="row answer-head">
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
