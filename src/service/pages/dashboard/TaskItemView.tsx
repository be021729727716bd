/**
 * Shows one prompt of a task: completions, votes, result, and the experts who set it aside.
 *
 * Guarantees: texts of clients, models, and experts are rendered as experts see them (`RichText`), or as plain text;
 * they are never trusted markup.
 */
import { useState } from "preact/hooks"
import type { TaskItem, TaskSummary } from "../../pageApi/TasksApi.ts"
import { ask } from "./client.ts"
import { flagWords } from "../shared/flags.ts"
import { count, letter, order, percent, plural, ranking, seconds } from "./format.ts"
import { ActionButton, Badge, Fact, LongText } from "./parts.tsx"
import { Decided } from "./Decide.tsx"
import { MoreVotes } from "./MoreVotes.tsx"
import { For } from "./role.tsx"
import { Table } from "./Table.tsx"
import { href } from "./routes.ts"
import { Withdraw, Withdrawal } from "./Withdraw.tsx"
import { itemLabel } from "./wording.ts"

/** The DOM id of the prompt's heading. */
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
  const result = item.withdrawal === null ? item.result : null
  const best = item.decision?.choice ?? result?.best_completion_index
  return (
    <article class="card padded stack item" aria-labelledby={promptId(item.index)}>
      <div class="row">
        <h3 id={promptId(item.index)}>
          <a href={href("task", { id: task.task_id, prompt: number })}>Prompt {count(number)}</a>
        </h3>
        <span class="badges">
          <Badge label={itemLabel(item, task)} />
          {result?.tie === true && <Badge label={{ words: "Tie", tone: "warn" }} />}
        </span>
        {item.held_by.length > 0 && (
          <span class="small muted anywhere">
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
              <div class="row">
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
      <Withdrawal item={item} taskId={task.task_id} reload={reload} />
      {item.withdrawal === null && (
        <For role="manager">
          <Decided item={item} task={task} reload={reload}>
            <Withdraw item={item} taskId={task.task_id} reload={reload} />
            {item.done && task.status !== "pending" && <MoreVotes task={task} index={item.index} reload={reload} />}
          </Decided>
        </For>
      )}
      {result !== null && <Result item={item} result={result} />}
      {item.votes.length > 0 && <Votes item={item} />}
      {item.voided.length > 0 && <VoidVotes item={item} />}
      {item.set_aside.length + item.flags.length > 0 && (
        <SetAside item={item} task={task} open={open} reload={reload} />
      )}
    </article>
  )
}

const Result = ({ item, result }: { readonly item: TaskItem; readonly result: NonNullable<TaskItem["result"]> }) => {
  return (
    <div class="stack tight">
      <dl class="facts">
        <Fact label={item.decision === null ? "Result" : "Result of the votes"}>
          {letter(result.best_completion_index)} <span class="muted small">index {result.best_completion_index}</span>
        </Fact>
        <Fact label="Agreement">
          {percent(result.agreement, 1) ?? "0 %"}
          {result.tie && <span class="muted small"> tie, settled by the rule</span>}
        </Fact>
        {result.ranking !== null && <Fact label="Ranking">{ranking(result.ranking)}</Fact>}
      </dl>
      {/* If there is only one vote, the vote itself shows this rationale. */}
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
              {repeated === true && <span class="group">judged the same in another task before</span>}
            </>
          ),
        },
        { label: "Choice", cell: ({ choice }) => <strong>{letter(choice)}</strong> },
        ...(ranked ? [{ label: "Ranking", cell: rankingOf }] : []),
        ...(item.votes.some(({ guidelines_version }) => guidelines_version !== undefined)
          ? [{ label: "Guidelines", cell: versionOf }]
          : []),
        { label: "Order shown", cell: (vote) => order(vote.order) },
        { label: "Time taken", cell: (vote) => seconds(vote.seconds) },
        { label: "Rationale", class: "wide", cell: reasonsOf },
      ]}
    />
  )
}

const VoidVotes = ({ item }: { readonly item: TaskItem }) => (
  <p class="sunken small">
    Void, and not counted:{" "}
    {item.voided.map(({ choice, expert, expert_name }, i) => (
      <span key={expert}>
        {i > 0 && ", "}
        <bdi>{expert_name}</bdi> for {letter(choice)}
      </span>
    ))}
  </p>
)

const rankingOf = (vote: TaskItem["votes"][number]) => (vote.ranking === undefined ? null : ranking(vote.ranking))

const versionOf = ({ guidelines_version = 1 }: TaskItem["votes"][number]) => `version ${guidelines_version}`

/** Lists what the vote says besides its choice, one line each. */
const saidOf = ({ all_bad, aspects = {}, edited, flags = [], strength }: TaskItem["votes"][number]) => [
  ...(strength === undefined ? [] : [`Strength ${strength}`]),
  ...(all_bad === true ? ["All bad"] : []),
  ...Object.entries(aspects).map(
    ([name, ratings]) => `${name}: ${ratings.map((rating, i) => `${letter(i)} ${rating ?? "–"}`).join(", ")}`,
  ),
  ...(flags.length === 0 ? [] : [`Marked: ${flags.join(", ")}`]),
  ...(edited === undefined ? [] : [`Edited: ${edited}`]),
]

const reasonsOf = (vote: TaskItem["votes"][number]) => {
  const { details, expert_name, rationale = "" } = vote
  const said = saidOf(vote)
  return rationale === "" && details === undefined && said.length === 0 ? null : (
    <>
      {said.map((line) => (
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
      {open && !item.done && item.set_aside.length > 0 && (
        <For role="manager">
          <div class="row">
            <ActionButton
              class="compact"
              label={`Return to experts: prompt ${number}`}
              ask={() =>
                ask("POST /tasks/:task_id/items/:index/return", {
                  params: { task_id: task.task_id, index: item.index },
                })
              }
              said={`Prompt ${count(number)} is back in the queue.`}
              onDone={() => {
                document.getElementById(promptId(item.index))?.querySelector("a")?.focus()
                reload()
              }}
            >
              Return to experts
            </ActionButton>
            <span class="muted small">All experts are asked again, those who set it aside too.</span>
          </div>
        </For>
      )}
    </div>
  )
}
