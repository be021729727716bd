/** Shows notices: what happened, what failed, and what was entered for an item that the expert no longer holds. */
import type { AnnotationState } from "./annotationState.ts"
import type { Dispatch } from "./useAnnotationState.ts"

export interface NoticesProps {
  readonly state: AnnotationState
  readonly dispatch: Dispatch
}

export const Notices = ({ state, dispatch }: NoticesProps) => {
  const { notice, trouble, lost } = state
  return (
    <div class="notices">
      <div role="alert">
        {trouble !== null && (
          <div class="notice bad">
            <span class="grow">
              {trouble.words} {state.item === null ? "" : "What you enter is kept on this device. "}
              {trouble.waiting ? "This is tried again by itself." : "Trying again…"}
            </span>
            <button type="button" class="button compact" onClick={() => dispatch({ _tag: "retry" })}>
              Try now
            </button>
          </div>
        )}
      </div>
      <div role="status">
        {notice !== null && (
          <div key={notice.text} class={`notice toast ${notice.tone}`}>
            <span class="grow">{notice.text}</span>
            <button
              type="button"
              class="button plain compact"
              aria-label="Close this message"
              onClick={() => dispatch({ _tag: "say", notice: null })}
            >
              <span aria-hidden="true">✕</span>
            </button>
          </div>
        )}
      </div>
      {lost !== null && (
        <section class="notice warn" aria-label="What you had entered">
          <div class="grow">
            <p class="small muted">
              You had entered this for “<bdi>{lost.prompt}</bdi>”
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
              <button
                type="button"
                class="button compact"
                onClick={() =>
                  // If the browser denies access to the clipboard, the expert can still select the text.
                  void navigator.clipboard.writeText(lost.rationale).then(
                    () => dispatch({ _tag: "say", notice: { tone: "good", text: "The rationale is copied." } }),
                    () =>
                      dispatch({
                        _tag: "say",
                        notice: { tone: "warn", text: "Copying is not allowed here: select the text." },
                      }),
                  )
                }
              >
                Copy the rationale
              </button>
            )}
            <button type="button" class="button compact" onClick={() => dispatch({ _tag: "putAway" })}>
              Put away
            </button>
          </div>
        </section>
      )}
    </div>
  )
}
