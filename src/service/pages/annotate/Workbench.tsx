/**
 * Shows one item. Keyboard shortcuts act on the marked completion. When a new item is shown, the focus moves to the
 * item's heading, because screen readers start to read there. After a click on a button, the focus moves from the
 * button to a completion. Otherwise, Enter would click the button again.
 */
import { useEffect, useRef, useState } from "preact/hooks"
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { Button } from "../shared/Button.tsx"
import { useHandles } from "../shared/useHandles.ts"
import { Clamped } from "./Clamped.tsx"
import { Completion } from "./Completion.tsx"
import { isBusy } from "./annotationStep.ts"
import { type AnnotationState, want } from "./annotationState.ts"
import { DifferenceBar } from "./DifferenceBar.tsx"
import * as entries from "./entry.ts"
import { focusFirst, focusOn } from "./focus.ts"
import { Guidelines, useGuidelines } from "./Guidelines.tsx"
import { Judgment } from "./Judgment.tsx"
import type { Action } from "./keys.ts"
import { usePreference } from "./preferences.ts"
import * as ranking from "./ranking.ts"
import { Prompt } from "./Prompt.tsx"
import { promptPage, Reader } from "./Reader.tsx"
import { ReasonDialog } from "./ReasonDialog.tsx"
import { isAsked, Rubric } from "./Rubric.tsx"
import { Toolbar } from "./Toolbar.tsx"
import { shortenImages } from "./shortenImages.ts"
import { useDifference } from "./useDifference.ts"
import type { Dispatch } from "./useAnnotationState.ts"
import { useKeys } from "./useKeys.ts"
import { useShown } from "./useShown.ts"

export interface WorkbenchProps {
  readonly state: AnnotationState
  readonly item: HeldItem
  readonly entry: entries.Entry
  readonly dispatch: Dispatch
  readonly onKeys: () => void
  readonly onJudgments: () => void
}

export const Workbench = ({ state, item, entry, dispatch, onKeys, onJudgments }: WorkbenchProps) => {
  const shown = useHandles(item, shortenImages)
  const { completions, prompt } = shown
  const { guidelines, task } = item
  const bench = useRef<HTMLElement>(null)
  const isShown = useShown(bench)
  const heading = useRef<HTMLHeadingElement>(null)
  const rationale = useRef<HTMLTextAreaElement>(null)
  const marks = useRef<HTMLDivElement>(null)
  const ratings = useRef<HTMLDivElement>(null)
  const improved = useRef<HTMLTextAreaElement>(null)
  const cards = useRef<Array<HTMLElement | null>>([])
  const [marked, setMarked] = useState(0)
  const [reader, setReader] = useState<number | null>(null)
  const [reasonFor, setReasonFor] = useState<"skip" | "flag" | null>(null)
  const [source, setSource] = usePreference("source")
  const [expand, setExpand] = usePreference("expand")
  const [isGuided, setGuided] = useGuidelines(item)
  const canSetAside = !item.qualification && item.corrects === null
  const difference = useDifference(completions, marked)

  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [isShown])

  const mark = (place: number) => {
    setMarked(place)
    if (reader === null) focusOn(cards.current[place])
    else setReader(place)
  }
  const move = (step: 1 | -1) => {
    if (reader === null) return mark(Math.min(Math.max(marked + step, 0), completions.length - 1))
    const page = Math.min(Math.max(reader + step, promptPage), completions.length - 1)
    return page === promptPage ? setReader(page) : mark(page)
  }
  const edit = (change: (entry: entries.Entry) => entries.Entry) =>
    dispatch({ _tag: "edit", itemId: item.item_id, change })
  const rank = (change: (ranks: ranking.Ranks) => ranking.Ranks) =>
    edit((entry) => ({ ...entry, ranks: change(entry.ranks) }))
  const pick = (place: number) =>
    entry.mode === "best"
      ? edit((entry) => entries.choose(entry, place))
      : rank((ranks) => ranking.toggleNext(ranks, place))
  const submit = () => {
    const place = entries.missing(entry, item.rubric)?.place
    if (place) focusFirst(bench.current, place)
    dispatch(want("submit"))
  }

  const onDigit = (digit: number) => {
    if (entry.mode === "rank") return rank((ranks) => ranking.assign(ranks, marked, digit))
    if (digit > completions.length) return undefined
    mark(digit - 1)
    return pick(digit - 1)
  }

  useKeys((action: Action): boolean | void => {
    if (!isShown) return undefined
    const ranks = entry.mode === "rank"
    switch (action._tag) {
      case "digit":
        return onDigit(action.digit)
      case "move":
        return move(action.step)
      case "pick":
        return pick(marked)
      case "clear":
        return ranks ? rank((ranks) => ranking.clear(ranks, marked)) : edit((entry) => ({ ...entry, best: null }))
      case "raise":
        return ranks ? rank((ranks) => ranking.raise(ranks, marked)) : false
      case "lower":
        return ranks ? rank((ranks) => ranking.lower(ranks, marked)) : false
      case "tie":
        return ranks ? rank((ranks) => ranking.tie(ranks, marked)) : false
      case "submit":
        return reader === null ? submit() : undefined
      case "undo":
        return dispatch(want("undo"))
      case "skip":
      case "flag":
        return reader === null && canSetAside ? setReasonFor(action._tag) : undefined
      case "mode":
        return edit(entries.switchMode)
      case "rationale":
        setReader(null)
        return rationale.current?.focus()
      case "stronger":
      case "weaker": {
        const strengths = item.rubric.strength.length
        const step = action._tag === "stronger" ? 1 : -1
        return strengths === 0 ? false : edit((entry) => entries.stepStrength(entry, step, strengths))
      }
      case "allBad":
        return item.rubric.all_bad ? edit(entries.toggleAllBad) : false
      case "rate":
        return reader === null
          ? focusFirst(ratings.current?.querySelectorAll<HTMLElement>("[role=group]")[marked], "[tabindex='0']")
          : undefined
      case "marks":
        return reader === null ? focusFirst(marks.current, "button") : undefined
      case "improve":
        if (!item.rubric.edit) return false
        if (entries.bestOf(entry) === null)
          return dispatch({ _tag: "say", notice: { tone: "warn", text: "Choose the best completion first." } })
        setReader(null)
        return improved.current?.focus()
      case "leave":
        // On Esc, the browser closes the full-screen view (`Reader`), but may call `onClose` later. Until `reader` is
        // null, other keys would still control the closed view. Therefore, `reader` is reset here.
        if (reader !== null) return setReader(null)
        if (document.activeElement?.matches("input, select, textarea") === true) return mark(marked)
        if ([marks, ratings].some(({ current }) => current?.contains(document.activeElement))) return mark(marked)
        if (difference.isOn) return difference.toggle()
        return dispatch(item.corrects === null ? { _tag: "say", notice: null } : want("next"))
      case "reader":
        return setReader(reader === null ? marked : null)
      case "difference":
        return difference.toggle()
      case "base":
        return difference.isOn ? difference.nextBase() : false
      case "guidelines":
        return guidelines === null ? false : setGuided(!isGuided)
      case "source":
        return toggleSource()
      case "expand":
        return toggleExpanded()
      case "keys":
        return reader === null ? onKeys() : undefined
      case "judgments":
        return reader === null ? onJudgments() : undefined
    }
  })

  const isSource = source === "on"
  const isExpanded = expand === "on"
  const toggleSource = () => setSource(isSource ? "" : "on")
  const toggleExpanded = () => setExpand(isExpanded ? "" : "on")
  return (
    <main
      ref={bench}
      class="stack bench"
      inert={!isShown}
      onClick={(event) => {
        // Moves the focus from the button to a card. After a click with the keyboard (`detail` is 0), the focus stays.
        const button = event.target instanceof Element ? event.target.closest("button:not(.submit)") : null
        if (event.detail === 0 || button === null || document.activeElement === improved.current) return
        const card = button.closest("article") ?? cards.current[marked]
        card?.focus({ preventScroll: true })
      }}
    >
      <h1 class="unseen" tabIndex={-1} ref={heading}>
        Item {task.number} of {task.prompts}
      </h1>
      <Guidelines item={item} isOpen={isGuided} onToggle={setGuided} onLeave={() => dispatch(want("next"))} />
      <section class="card prompt" aria-label="Prompt">
        <div class="row section-head">
          <h2>Prompt</h2>
          {item.undone && <span class="badge accent">You took this judgment back: submit it again</span>}
          <Button
            look="plain compact"
            text="Full screen"
            label="Read the prompt in full screen"
            onClick={() => setReader(promptPage)}
          />
        </div>
        <Clamped text={prompt} expand={isExpanded} name="the prompt">
          {(text) => <Prompt item={shown} text={text} source={isSource} />}
        </Clamped>
      </section>
      <section aria-label="Completions">
        <Toolbar
          count={completions.length}
          views={[
            { name: "Source", key_: "V", on: isSource, onClick: toggleSource },
            { name: "Differences", key_: "D", on: difference.isOn, onClick: difference.toggle },
            { name: "Long texts in full", key_: "M", on: isExpanded, onClick: toggleExpanded },
          ]}
          onSetAside={canSetAside ? setReasonFor : null}
        />
        {difference.isOn && <DifferenceBar difference={difference} marked={marked} count={completions.length} />}
        <div class={`completions ${gridOf(completions.length)}`}>
          {completions.map((text, place) => (
            <Completion
              key={place}
              place={place}
              text={text}
              turns={shown.completion_turns[place] ?? null}
              entry={entry}
              isMarked={place === marked}
              source={isSource}
              expand={isExpanded}
              parts={difference.partsOf(place)}
              element={(element) => void (cards.current[place] = element)}
              onMark={() => setMarked(place)}
              onPick={() => pick(place)}
              onRank={rank}
              onRead={() => {
                setMarked(place)
                setReader(place)
              }}
            />
          ))}
        </div>
      </section>
      {isAsked(item) && (
        <Rubric
          item={item}
          entry={entry}
          marks={marks}
          ratings={ratings}
          edit={improved}
          onEdit={edit}
          onMark={setMarked}
        />
      )}
      <Judgment
        state={state}
        item={item}
        entry={entry}
        isBusy={isBusy(state)}
        rationale={rationale}
        onEdit={edit}
        onPick={(place) => {
          setMarked(place)
          pick(place)
        }}
        onSubmit={submit}
      />
      {reader !== null && (
        <Reader
          page={reader}
          item={shown}
          entry={entry}
          source={isSource}
          difference={difference}
          onMove={move}
          onPick={() => pick(marked)}
          onClose={() => setReader(null)}
        />
      )}
      {reasonFor !== null && (
        <ReasonDialog
          kind={reasonFor}
          onClose={() => setReasonFor(null)}
          onReason={(wanted) => {
            setReasonFor(null)
            dispatch({ _tag: "want", wanted })
          }}
        />
      )}
    </main>
  )
}

const gridOf = (count: number): string => (count <= 3 ? `of-${count}` : count <= 8 ? "of-few" : "of-many")
