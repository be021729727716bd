/** Shows one prompt of a task. Texts by clients and experts are never inserted as raw markup. */
import { useState } from "preact/hooks"
import type { TaskItem, TaskSummary } from "../../pageApi/TasksApi.ts"
import { ask } from "./client.ts"
import { Button } from "../shared/Button.tsx"
import { Facts } from "../shared/Facts.tsx"
import { flagWords } from "../shared/flags.ts"
import { count, factWords, letter, order, percent, plural, ranking, seconds } from "./format.ts"
import { ActionButton, Badge, commas, LongText } from "./parts.tsx"
import { Decided } from "./Decide.tsx"
import { MoreVotes } from "./MoreVotes.tsx"
import { For } from "./role.tsx"
import { Table } from "./Table.tsx"
import { isOpen } from "./TaskList.tsx"
import { href } from "./routes.ts"
import { Withdraw, Withdrawal } from "./Withdraw.tsx"
import { itemLabel } from "./wording.ts"

export const promptId = (index: number): string => `prompt-${index + 1}`

const shownAtFirst = 8

interface Props {
  readonly item: TaskItem
  readonly task: TaskSummary
}

interface ViewProps extends Props {
  /** The lead's choice on the decision page. Null before the lead has chosen. Undefined on other pages. */
  readonly chosen?: number | null
}

export const TaskItemView = ({ item, task, chosen }: ViewProps) => {
  // On the decision page, all completions are shown, because a lead must see every completion that can be chosen.
  const [all, setAll] = useState(chosen !== undefined)
  const number = item.index + 1
  const completions = all ? item.completions : item.completions.slice(0, shownAtFirst)
  const result = item.withdrawal === null ? item.result : null
  const best = chosen === undefined ? (item.decision?.choice ?? result?.best_completion_index) : chosen
  const mark = chosen === undefined ? "Best" : "Your choice"
  return (
    <article class="card padded stack item" aria-labelledby={promptId(item.index)}>
      <div class="row">
        <h3 id={promptId(item.index)}>
          <a href={href("task", { id: task.task_id, prompt: number })}>Prompt {count(number)}</a>
        </h3>
        <span class="badges">
          {chosen === undefined && <Badge label={itemLabel(item, task)} />}
          {result?.tie === true && <Badge label={{ words: "Tie", tone: "warn" }} />}
        </span>
        {item.held_by.length > 0 && (
          <span class="small muted anywhere">held by {commas(item.held_by.map((name) => <bdi>{name}</bdi>))}</span>
        )}
      </div>
      <LongText text={item.prompt} label={`prompt ${number}`} below={3} lines={10} />
      <div class="grid">
        {completions.map((text, index) => (
          <Completion key={index} text={text} index={index} item={item} mark={index === best ? mark : undefined} />
        ))}
      </div>
      {item.completions.length > shownAtFirst && chosen === undefined && (
        <Button
          look="link"
          text={all ? `Show ${shownAtFirst} completions` : `Show all ${count(item.completions.length)} completions`}
          aria-expanded={all}
          onClick={() => setAll(!all)}
        />
      )}
      <Withdrawal item={item} taskId={task.task_id} />
      {item.withdrawal === null && chosen === undefined && (
        <For role="manager">
          <Decided item={item} task={task}>
            <Withdraw item={item} taskId={task.task_id} />
            {item.done && task.status !== "pending" && <MoreVotes task={task} index={item.index} />}
          </Decided>
        </For>
      )}
      {result !== null && chosen === undefined && <Result item={item} result={result} />}
      {item.votes.length > 0 && <Votes item={item} />}
      <FormerVotes title="Void, so not counted" votes={item.voided} />
      <FormerVotes title="Later corrected by the expert, so not counted" votes={item.replaced} />
      {item.set_aside.length + item.flags.length > 0 && <SetAside item={item} task={task} />}
    </article>
  )
}

interface CompletionProps {
  readonly text: string
  readonly index: number
  readonly item: TaskItem
  readonly mark: string | undefined
}

const Completion = ({ text, index, item, mark }: CompletionProps) => {
  const name = `ompletion ${letter(index)} of prompt ${item.index + 1}`
  const votes = item.votes.filter(({ choice }) => choice === index).length
  return (
    <section class={mark === undefined ? "completion" : "completion best"} aria-label={`C${name}`}>
      <div class="row">
        <strong>{letter(index)}</strong>
        <span class="muted small">index {index}</span>
        {item.votes.length > 0 && <span class="small">{votes === 0 ? "no votes" : plural(votes, "vote")}</span>}
        {mark !== undefined && <Badge label={{ words: mark, tone: "good" }} />}
      </div>
      <LongText text={text} label={`c${name}`} below={3} chars={600} lines={8} />
    </section>
  )
}

interface ResultProps {
  readonly item: TaskItem
  readonly result: NonNullable<TaskItem["result"]>
}

const Result = ({ item, result }: ResultProps) => {
  const { agreement, best_completion_index: best, rationale, ranking: ranks, tie } = result
  const note = (words: string) => <span class="muted small"> {words}</span>
  return (
    <div class="stack tight">
      <Facts
        facts={[
          [
            item.decision === null ? "Result" : "Result of the votes",
            <>
              {letter(best)}
              {note(`index ${best}`)}
            </>,
          ],
          [
            "Agreement",
            <>
              {percent(agreement, 1) ?? "0 %"}
              {tie && note("tie, settled by the tie-breaking rule")}
            </>,
          ],
          ranks !== null && ["Ranking", ranking(ranks)],
        ]}
      />
      {/* If the item has one vote, the table of votes already shows its rationale. */}
      {item.votes.length > 1 && rationale !== null && rationale !== "" && (
        <div>
          <h4>Rationale</h4>
          <LongText text={rationale} label={`the rationale for prompt ${item.index + 1}`} below={4} lines={6} />
        </div>
      )}
    </div>
  )
}

const Votes = ({ item }: { readonly item: TaskItem }) => (
  <Table<TaskItem["votes"][number]>
    class="votes"
    label={`Votes on prompt ${item.index + 1}`}
    rows={item.votes}
    keyOf={({ expert }) => expert}
    columns={[
      {
        label: "Expert",
        class: "anywhere",
        cell: ({ expert_name, repeated }) => (
          <>
            <bdi>{expert_name}</bdi>
            {repeated === true && <span class="group">judged the same prompt in an earlier task</span>}
          </>
        ),
      },
      { label: "Choice", cell: ({ choice }) => <strong>{letter(choice)}</strong> },
      item.votes.some(({ ranking }) => ranking !== undefined) && {
        label: "Ranking",
        cell: (vote) => (vote.ranking === undefined ? null : ranking(vote.ranking)),
      },
      item.votes.some(({ strength }) => strength !== undefined) && {
        label: "Strength",
        nothing: "–",
        cell: ({ strength }) => strength ?? null,
      },
      item.votes.some(({ guidelines_version }) => guidelines_version !== undefined) && {
        label: "Guidelines",
        cell: ({ guidelines_version = 1 }) => `version ${guidelines_version}`,
      },
      { label: "Order shown", cell: (vote) => order(vote.order) },
      { label: "Time taken", cell: (vote) => seconds(vote.seconds) },
      { label: "Rationale", class: "wide", cell: reasonsOf },
    ]}
  />
)

const FormerVotes = ({ title, votes }: { readonly title: string; readonly votes: TaskItem["voided"] }) =>
  votes.length === 0 ? null : (
    <p class="sunken small">
      {title}:{" "}
      {commas(
        votes.map(({ choice, expert_name }) => (
          <>
            <bdi>{expert_name}</bdi> for {letter(choice)}
          </>
        )),
      )}
    </p>
  )

const otherMembers =
  /^(expert.*|kind|choice|ranking|order|seconds|strength|rationale|guidelines_version|repeated|details)$/

const answersOf = ({ all_bad, aspects = {}, edited, flags = [], ...others }: TaskItem["votes"][number]) => [
  ...(all_bad === true ? ["All bad"] : []),
  ...Object.entries(aspects).map(
    ([name, ratings]) => `${name}: ${ratings.map((rating, i) => `${letter(i)} ${rating ?? "–"}`).join(", ")}`,
  ),
  ...(flags.length === 0 ? [] : [`Marked: ${flags.join(", ")}`]),
  ...(edited === undefined ? [] : [`Edited: ${edited}`]),
  ...Object.entries(others).flatMap(([name, value]) => (otherMembers.test(name) ? [] : [factWords(name, value)])),
]

const reasonsOf = (vote: TaskItem["votes"][number]) => {
  const { details, expert_name, rationale = "" } = vote
  const answers = answersOf(vote)
  return rationale === "" && details === undefined && answers.length === 0 ? null : (
    <>
      {answers.map((line) => (
        <LongText key={line} text={line} label={`what ${expert_name} says`} chars={300} lines={4} />
      ))}
      {rationale !== "" && (
        <LongText text={rationale} label={`the rationale of ${expert_name}`} below={3} chars={300} lines={4} />
      )}
      {details !== undefined && (
        <details class="details">
          <summary class="caption">Details</summary>
          <LongText text={JSON.stringify(details, null, 2)} label="the details" lines={20} />
        </details>
      )}
    </>
  )
}

const SetAside = ({ item, task }: Props) => {
  const number = item.index + 1
  return (
    <div class="sunken stack tight">
      <h4>Flags and skips</h4>
      <ul class="stack tight">
        {item.flags.map((flag, i) => (
          <li key={i}>
            <span>
              <bdi>{flag.expert_name}</bdi> <strong class="warn toned">flagged</strong> it:
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
                {reason === "" ? "." : ":"}
              </span>
              {reason !== "" && <LongText text={reason} label={`the reason of ${expert_name}`} chars={300} lines={4} />}
            </li>
          ))}
      </ul>
      {isOpen(task) && !item.done && item.set_aside.length > 0 && (
        <For role="manager">
          <div class="row">
            <ActionButton
              look="compact"
              text="Return to experts"
              label={`Return to experts: prompt ${number}`}
              ask={() =>
                ask("POST /tasks/:task_id/items/:index/return", {
                  params: { task_id: task.task_id, index: item.index },
                })
              }
              success={`Prompt ${count(number)} is back in the queue.`}
              onDone={() => document.getElementById(promptId(item.index))?.querySelector("a")?.focus()}
            />
            <span class="muted small">
              The prompt goes to all experts again, including those who flagged or skipped it.
            </span>
          </div>
        </For>
      )}
    </div>
  )
}
