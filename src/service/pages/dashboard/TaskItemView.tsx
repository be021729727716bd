/**
 * One prompt of a task: completions, votes, result, and who set it aside.
 *
 * Guarantees: what clients, models and experts wrote is rendered as experts see it (`RichText`), or,
 * at the reader's choice, shown as it was written; no part of it is trusted markup.
 */
import { useContext, useState } from "preact/hooks"
import type { TaskItem, TaskSummary } from "../../pageApi/DashboardApi.ts"
import { flagWords } from "../shared/flags.ts"
import * as client from "./client.ts"
import { count, letter, order, percent, plural, ranking, seconds } from "./format.ts"
import { Say, useAction } from "./hooks.ts"
import { Badge, LongText, Problem } from "./parts.tsx"
import { format } from "./routes.ts"
import { itemLabel } from "./wording.ts"

/** Of the heading, in the document. */
export const promptId = (index: number): string => `prompt-${index + 1}`

const shownAtFirst = 8

export const TaskItemView = ({
  item,
  task,
  open,
  reload,
}: {
  readonly item: TaskItem
  readonly task: TaskSummary
  readonly open: boolean
  readonly reload: () => void
}) => {
  const [all, setAll] = useState(false)
  const number = item.index + 1
  const completions = all ? item.completions : item.completions.slice(0, shownAtFirst)
  const best = item.result?.best_completion_index
  return (
    <article class="card item" aria-labelledby={promptId(item.index)}>
      <div class="item-head">
        <h3 id={promptId(item.index)}>
          <a href={format({ page: "task", taskId: task.task_id, prompt: number })}>Prompt {count(number)}</a>
        </h3>
        <span class="badges">
          <Badge label={itemLabel(item, task)} />
          {item.result?.tie === true && <Badge label={{ words: "Tie", tone: "warn" }} />}
        </span>
        {item.held_by.length > 0 && (
          <span class="held">
            with{" "}
            {item.held_by.map((name, i) => (
              <span key={i}>
                {i > 0 && ", "}
                <bdi>{name}</bdi>
              </span>
            ))}
          </span>
        )}
      </div>
      <LongText text={item.prompt} label={`prompt ${number}`} below={3} lines={10} />
      <div class="completions">
        {completions.map((completion, index) => {
          const votes = item.votes.filter(({ choice }) => choice === index).length
          return (
            <section
              key={index}
              class={index === best ? "completion best" : "completion"}
              aria-label={`Completion ${letter(index)} of prompt ${number}`}
            >
              <div class="completion-head">
                <strong>{letter(index)}</strong>
                <span class="muted small">index {index}</span>
                {item.votes.length > 0 && <span class="small">{votes === 0 ? "no votes" : plural(votes, "vote")}</span>}
                {index === best && <Badge label={{ words: "Best", tone: "good" }} />}
              </div>
              <LongText
                text={completion}
                label={`completion ${letter(index)} of prompt ${number}`}
                below={3}
                chars={600}
                lines={8}
              />
            </section>
          )
        })}
      </div>
      {item.completions.length > shownAtFirst && (
        <button type="button" class="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? `Show ${shownAtFirst} completions` : `Show all ${count(item.completions.length)} completions`}
        </button>
      )}
      <Result item={item} />
      {item.votes.length > 0 && <Votes item={item} />}
      {item.set_aside.length + item.flags.length > 0 && (
        <SetAside item={item} task={task} open={open} reload={reload} />
      )}
    </article>
  )
}

const Result = ({ item }: { readonly item: TaskItem }) => {
  const { result } = item
  if (result === null) return null
  return (
    <div class="result">
      <dl class="facts">
        <div>
          <dt>Result</dt>
          <dd>
            {letter(result.best_completion_index)} <span class="muted small">index {result.best_completion_index}</span>
          </dd>
        </div>
        <div>
          <dt>Agreement</dt>
          <dd>
            {percent(result.agreement, 1) ?? "0 %"}
            {result.tie && <span class="muted small"> tie, settled by the rule</span>}
          </dd>
        </div>
        {result.ranking !== null && (
          <div>
            <dt>Ranking</dt>
            <dd>{ranking(result.ranking)}</dd>
          </div>
        )}
      </dl>
      {/* Of one vote, it is that vote's. */}
      {item.votes.length > 1 && result.rationale !== null && result.rationale !== "" && (
        <div>
          <h4>Rationale</h4>
          <LongText text={result.rationale} label={`the rationale for prompt ${item.index + 1}`} below={4} lines={6} />
        </div>
      )}
    </div>
  )
}

const Votes = ({ item }: { readonly item: TaskItem }) => {
  const ranked = item.votes.some(({ ranking }) => ranking !== undefined)
  return (
    <table class="cards votes" role="table" aria-label={`Votes on prompt ${item.index + 1}`}>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader">Expert</th>
          <th role="columnheader">Choice</th>
          {ranked && <th role="columnheader">Ranking</th>}
          <th role="columnheader">Order shown</th>
          <th role="columnheader">Time taken</th>
          <th role="columnheader">Rationale</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {item.votes.map((vote) => (
          <tr role="row" key={vote.expert}>
            <th role="rowheader" scope="row" class="anywhere">
              <bdi>{vote.expert_name}</bdi>
            </th>
            <td role="cell" data-label="Choice">
              <strong>{letter(vote.choice)}</strong>
            </td>
            {ranked && (
              <td role="cell" data-label="Ranking">
                {vote.ranking === undefined ? <span class="muted">none</span> : ranking(vote.ranking)}
              </td>
            )}
            <td role="cell" data-label="Order shown">
              {order(vote.order)}
            </td>
            <td role="cell" data-label="Time taken">
              {seconds(vote.seconds)}
            </td>
            <td role="cell" data-label="Rationale" class="wide">
              {vote.rationale === undefined || vote.rationale === "" ? (
                <span class="muted">none</span>
              ) : (
                <LongText
                  text={vote.rationale}
                  label={`the rationale of ${vote.expert_name}`}
                  below={3}
                  chars={300}
                  lines={4}
                />
              )}
              {vote.details !== undefined && (
                <details class="details">
                  <summary>Details</summary>
                  <LongText text={JSON.stringify(vote.details, null, 2)} label="the details" lines={20} />
                </details>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const SetAside = ({
  item,
  task,
  open,
  reload,
}: {
  readonly item: TaskItem
  readonly task: TaskSummary
  readonly open: boolean
  readonly reload: () => void
}) => {
  const action = useAction()
  const say = useContext(Say)
  const number = item.index + 1
  return (
    <div class="set-aside">
      <h4>Flags and skips</h4>
      <ul>
        {item.flags.map((flag, i) => (
          <li key={i}>
            <span>
              <bdi>{flag.expert_name}</bdi> <strong class="warn-text">flagged</strong> it:
            </span>
            <LongText text={flagWords(flag)} label={`the reason of ${flag.expert_name}`} chars={300} lines={4} />
          </li>
        ))}
        {item.set_aside
          .filter(({ kind }) => kind === "skip")
          .map(({ expert_name, reason }, i) => (
            <li key={i}>
              <span>
                <bdi>{expert_name}</bdi> skipped it
                {reason === "" && "."}
                {reason !== "" && ":"}
              </span>
              {reason !== "" && <LongText text={reason} label={`the reason of ${expert_name}`} chars={300} lines={4} />}
            </li>
          ))}
      </ul>
      {open && !item.done && item.set_aside.length > 0 && (
        <>
          <button
            type="button"
            class="button compact"
            aria-label={`Return to experts: prompt ${number}`}
            aria-disabled={action.busy}
            onClick={() =>
              void action.run(
                () => client.returnItem(task.task_id, item.index),
                () => {
                  say(`Prompt ${count(number)} is back in the queue.`)
                  document.getElementById(promptId(item.index))?.querySelector("a")?.focus()
                  reload()
                },
              )
            }
          >
            Return to experts
          </button>
          <span class="muted small">All experts are asked again, those who set it aside too.</span>
          <Problem words={action.problem} />
        </>
      )}
    </div>
  )
}
