/** Notices of successes and failures. If the expert loses an item, a notice shows the expert's input for the item. */
import { Button } from "../shared/Button.tsx"
import type { AnnotationState, Notice } from "./annotationState.ts"
import type { Dispatch } from "./useAnnotationState.ts"

export interface NoticesProps {
  readonly state: AnnotationState
  readonly dispatch: Dispatch
}

export const Notices = ({ state, dispatch }: NoticesProps) => {
  const { notice, trouble, lost } = state
  const say = (notice: Notice | null) => dispatch({ _tag: "say", notice })
  // If the browser denies access to the clipboard, the notice asks the expert to select the text.
  const copy = (text: string) =>
    void navigator.clipboard.writeText(text).then(
      () => say({ tone: "good", text: "The rationale is copied." }),
      () => say({ tone: "warn", text: "The browser does not allow copying here. Select and copy the text yourself." }),
    )
  return (
    <div class="notices">
      <div role="alert">
        {trouble !== null && (
          <div class="notice bad">
            <span class="grow">
              {trouble.words} {state.item === null ? "" : "What you enter is kept on this device. "}
              {trouble.waiting ? "The page retries automatically." : "Trying again…"}
            </span>
            <Button look="compact" text="Try now" onClick={() => dispatch({ _tag: "retry" })} />
          </div>
        )}
      </div>
      <div role="status">
        {notice !== null && (
          <div key={notice.text} class={`notice toast ${notice.tone}`}>
            <span class="grow">{notice.text}</span>
            <Button look="plain compact" text="✕" label="Close this message" onClick={() => say(null)} />
          </div>
        )}
      </div>
      {lost !== null && (
        <section class="notice warn" aria-label="What you entered">
          <div class="grow">
            <p class="small muted">
              You entered this for “<bdi>{lost.prompt}</bdi>”
            </p>
            {lost.choice !== "" && <p>Choice: {lost.choice}</p>}
            {lost.rationale !== "" && (
              <p class="lost-text" dir="auto">
                {lost.rationale}
              </p>
            )}
          </div>
          <div class="row tight">
            {lost.rationale !== "" && (
              <Button look="compact" text="Copy the rationale" onClick={() => copy(lost.rationale)} />
            )}
            <Button look="compact" text="Dismiss" onClick={() => dispatch({ _tag: "putAway" })} />
          </div>
        </section>
      )}
    </div>
  )
}
