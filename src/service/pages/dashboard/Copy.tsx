/** Texts with a copy button: shell commands, and secrets that are shown only once. */
import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef, useState } from "preact/hooks"
import { Button } from "../shared/Button.tsx"

const copy = async (text: string): Promise<boolean> => {
  // On a page that another machine serves over plain HTTP, `navigator.clipboard` is undefined, so this throws.
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement("textarea")
    area.value = text
    area.className = "offscreen"
    const focused = document.activeElement
    // The text area must be inside an open modal dialog, because the dialog makes everything outside inert.
    ;(document.querySelector("dialog:modal") ?? document.body).append(area)
    area.select()
    const copied = document.execCommand("copy")
    area.remove()
    if (focused instanceof HTMLElement) focused.focus()
    return copied
  }
}

interface CopyButtonProps {
  readonly text: string
  readonly what: string
  readonly words?: string
}

export const CopyButton = ({ text, what, words = "Copy" }: CopyButtonProps) => {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle")
  useEffect(() => {
    if (state === "idle") return
    const timer = setTimeout(() => setState("idle"), 4000)
    return () => clearTimeout(timer)
  }, [state])
  return (
    <span class="copy">
      <Button
        look="compact"
        text={words}
        label={`${words} ${what}`}
        onClick={() => void copy(text).then((isCopied) => setState(isCopied ? "copied" : "failed"))}
      />
      <span class="copied" role="status">
        {state === "copied" && "Copied"}
        {state === "failed" && "Select the text and press Ctrl+C"}
      </span>
    </span>
  )
}

export const Lines = ({ text, what }: { readonly text: string; readonly what: string }) => (
  <div class="lines">
    <pre tabIndex={0} role="region" aria-label={what}>
      {text}
    </pre>
    <CopyButton text={text} what={what} />
  </div>
)

interface SecretProps {
  readonly title: string
  readonly heading?: "h2" | "h3"
  readonly label: string
  readonly what: string
  readonly value: string
  readonly children: ComponentChildren
  readonly onDone: () => void
  readonly focusAfter: string
}

/** Shows a new secret. Its field gets the focus, because the secret is shown only once. */
export const Secret = ({ heading: Heading = "h3", ...props }: SecretProps) => {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [props.value])
  const finish = () => {
    props.onDone()
    document.getElementById(props.focusAfter)?.focus()
  }
  return (
    <section class="stack secret" aria-labelledby={id}>
      <Heading id={id}>{props.title}</Heading>
      <div class="row">
        <input
          ref={field}
          class="input code"
          aria-label={props.label}
          readOnly
          value={props.value}
          spellcheck={false}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton text={props.value} what={props.what} />
      </div>
      {props.children}
      <Button text="Done" onClick={finish} />
    </section>
  )
}
