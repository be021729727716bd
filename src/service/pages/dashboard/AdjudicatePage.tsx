/**
 * The queue of disagreements. A lead decides or skips one item after the other, newest first. The page neither replaces
 * nor takes back decisions of other leads. Skipped items stay open. A reload of the page empties the list of decisions.
 */
import { useContext, useEffect, useRef, useState } from "preact/hooks"
import type { ItemSummary } from "../../pageApi/ItemsApi.ts"
import { maxLength } from "../../pageApi/PageConstants.ts"
import type { TaskDetail } from "../../pageApi/TasksApi.ts"
import type { Answer } from "../shared/api.ts"
import { Button } from "../shared/Button.tsx"
import { KeysDialog } from "../shared/KeysDialog.tsx"
import { AdjudicationEnd, type AdjudicationOutcome } from "./AdjudicationEnd.tsx"
import { ask } from "./client.ts"
import { letter, plural } from "./format.ts"
import { TextArea } from "./forms.tsx"
import { Say, useAction, useHeading, useResource } from "./hooks.ts"
import { filters } from "./ItemsPage.tsx"
import { askPage, filtered } from "./List.tsx"
import { Loaded, PageHeading, Problem } from "./parts.tsx"
import { useMay } from "./role.tsx"
import { href, type Query } from "./routes.ts"
import { TaskItemView } from "./TaskItemView.tsx"
import { useKeys } from "./useKeys.ts"

interface Next {
  readonly item: ItemSummary
  readonly detail: TaskDetail
}

interface Position {
  readonly next: Next | null
  readonly open: number
}

const load = async (query: Query, before: number | undefined): Promise<Answer<Position>> => {
  const list = await askPage("GET /items", { ...query, before: before?.toString(), state: "disputed" }, 1)
  if (!list.ok) return list
  const { disagreements: open, items } = list.value
  const [item] = items
  if (item === undefined) return { ok: true, value: { next: null, open } }
  const { index, task_id } = item
  const answer = await ask("GET /tasks/:task_id", { params: { task_id }, query: { from: index, limit: 1 } })
  return answer.ok ? { ok: true, value: { next: { item, detail: answer.value }, open } } : answer
}

export const AdjudicatePage = ({ query: address }: { readonly query: Query }) => {
  const { before: _before, state: _state, ...query } = filtered(address, filters)
  const mayDecide = useMay("manager")
  return (
    <>
      <PageHeading title="Disagreements" under={["Items", href("items", { ...query, state: "disputed" })]} />
      {mayDecide ? (
        <Disagreements key={JSON.stringify(query)} query={query} />
      ) : (
        <p>Only managers and admins can decide items.</p>
      )}
    </>
  )
}

const Disagreements = ({ query }: { readonly query: Query }) => {
  const [before, setBefore] = useState<number>()
  const [outcomes, setOutcomes] = useState<ReadonlyArray<AdjudicationOutcome>>([])
  const say = useContext(Say)
  const action = useAction()
  // `goTo` changes `round`, and with it the key of the resource. The item is loaded again even if `before` stays.
  const [round, setRound] = useState(0)
  const resource = useResource(`${round} ${before}`, () => load(query, before), undefined)
  const goTo = (position: number | undefined) => {
    setBefore(position)
    setRound((round) => round + 1)
  }
  const onOutcome = (outcome: AdjudicationOutcome) => {
    setOutcomes((outcomes) => [...outcomes, outcome])
    goTo(outcome.item.item_no)
  }
  const last = outcomes.at(-1)
  const undo = () => {
    if (last === undefined) return say("There is nothing to take back.")
    const { choice, item } = last
    const { index, task_id } = item
    const request = async () => {
      const input = { params: { task_id, index }, query: { mine: "true" } } as const
      const answer = await ask("DELETE /tasks/:task_id/items/:index/decision", input)
      // Status 409 means that another lead has changed the decision, so this lead cannot take it back anymore.
      if (!answer.ok && answer.problem.status === 409) setOutcomes(outcomes.slice(0, -1))
      return answer
    }
    const skipped = async () => ({ ok: true, value: undefined }) as const
    return void action.run<unknown>(choice === null ? skipped : request, () => {
      say(
        choice === null ? "The skipped item is back." : `You took back your decision for completion ${letter(choice)}.`,
      )
      setOutcomes(outcomes.slice(0, -1))
      goTo(item.item_no + 1)
    })
  }
  return (
    <>
      {Object.keys(query).length > 0 && (
        <p class="muted">
          This page shows only items that match your filters. <a href={href("adjudicate")}>All disagreements</a>
        </p>
      )}
      <Problem words={action.problem} />
      <Loaded resource={resource}>
        {({ next, open }) =>
          next === null ? (
            <AdjudicationEnd open={open} outcomes={outcomes} onStartAgain={() => goTo(undefined)} onUndo={undo} />
          ) : (
            <Item
              key={next.item.item_no}
              next={next}
              open={open}
              isStale={resource.stale}
              onOutcome={onOutcome}
              onUndo={undo}
            />
          )
        }
      </Loaded>
    </>
  )
}

const keys = [
  [["1", "–", "9"], "Choose the completion with that number (1 is A)"],
  [["Enter"], "Decide and next (Ctrl Enter while writing)"],
  [["S"], "Skip: decide later, and go to the next item"],
  [["E"], "Write the reason; Esc leaves the field"],
  [["U"], "Take the last decision back"],
  [["?"], "Show this list"],
] as const

interface ItemProps {
  readonly next: Next
  readonly open: number
  readonly isStale: boolean
  readonly onOutcome: (outcome: AdjudicationOutcome) => void
  readonly onUndo: () => void
}

const Item = ({ next: { detail, item }, open, isStale, onOutcome, onUndo }: ItemProps) => {
  const { items, task } = detail
  const [shown] = items
  const completions = shown!.completions.length
  const [choice, setChoice] = useState<number | null>(null)
  const [areKeysOpen, setKeysOpen] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const action = useAction()
  const say = useContext(Say)
  const heading = useHeading()
  useEffect(() => scrollTo(0, 0), [])

  const rationale = () => form.current?.querySelector("textarea")
  const decide = () => {
    if (isStale) return
    if (choice === null) return say("Choose a completion first.")
    void action.run(
      () =>
        ask("PUT /tasks/:task_id/items/:index/decision", {
          params: { task_id: item.task_id, index: item.index },
          payload: { choice, rationale: rationale()?.value.trim() ?? "", undecided: true },
        }),
      () => {
        say(`Decided for ${letter(choice)}.`)
        onOutcome({ item, choice })
      },
    )
  }
  const skip = () => {
    if (isStale || action.busy) return
    say("Skipped.")
    onOutcome({ item, choice: null })
  }
  useKeys((key) => {
    if (/^[1-9]$/.test(key)) return Number(key) <= completions ? setChoice(Number(key) - 1) : false
    if (key === "Enter") return decide()
    if (key === "s") return skip()
    if (key === "u") return isStale ? undefined : onUndo()
    if (key === "e") return rationale()?.focus()
    if (key === "Escape") return rationale()?.blur()
    return key === "?" ? setKeysOpen(true) : false
  })
  return (
    <section class="stack adjudicate" aria-labelledby="disagreement">
      <div class="row heading">
        <h2 id="disagreement" tabIndex={-1} ref={heading}>
          {open === 1 ? "The last open disagreement" : plural(open, "open disagreement")}
        </h2>
        <Button look="plain compact" text={["Keys ", <kbd>?</kbd>]} onClick={() => setKeysOpen(true)} />
      </div>
      {(item.group_id !== item.task_id || item.equal.length > 0) && (
        <p class="muted">
          {item.group_id !== item.task_id && (
            <>
              Group <bdi>{item.group_id}</bdi>.{" "}
            </>
          )}
          {item.equal.length > 0 &&
            `The same item is in ${plural(item.equal.length, "other task")}. Your decision does not change it there.`}
        </p>
      )}
      <TaskItemView item={shown!} task={task} chosen={choice} />
      <form
        ref={form}
        class="card padded stack tight decide-bar"
        aria-label="Decide"
        onSubmit={(event) => {
          event.preventDefault()
          decide()
        }}
      >
        <Problem words={action.problem} />
        <div class="row" role="group" aria-label="Best completion">
          {shown!.completions.map((_, i) => (
            <Button
              key={i}
              text={[
                i < 9 && <kbd aria-hidden="true">{i + 1}</kbd>,
                <span class="unseen">Completion </span>,
                letter(i),
              ]}
              aria-pressed={i === choice}
              onClick={() => setChoice(i)}
            />
          ))}
          <span class="unseen" role="status">
            {choice !== null && `Completion ${letter(choice)} is chosen.`}
          </span>
        </div>
        <div class="row">
          <TextArea name="rationale" label="Why (optional)" rows={1} maxLength={maxLength.decision} fieldClass="why" />
          <Button
            type="submit"
            look="primary"
            text={["Decide and next ", <kbd aria-hidden="true">Enter</kbd>]}
            busy={action.busy || isStale || choice === null}
          />
          <Button text={["Skip ", <kbd aria-hidden="true">S</kbd>]} onClick={skip} />
        </div>
      </form>
      {areKeysOpen && <KeysDialog groups={[{ title: "", keys }]} onClose={() => setKeysOpen(false)} />}
    </section>
  )
}
