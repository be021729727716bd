/** Shows one expert: votes, pace, agreement, gold items, position habit, and the votes that were declared void. */
import { maxLength } from "../../pageApi/PageConstants.ts"
import type { ExpertDetail, Voided } from "../../pageApi/ExpertsApi.ts"
import type { Standing } from "../../pageApi/QualificationApi.ts"
import { ask } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { count, percent, plural, seconds } from "./format.ts"
import { Field } from "./forms.tsx"
import { useResource } from "./hooks.ts"
import { Days } from "./Days.tsx"
import { ActionButton, Fact, Loaded, PageHeading, Section, Time } from "./parts.tsx"
import { StandingBadge } from "./Qualification.tsx"
import { For, useMay } from "./role.tsx"
import { href } from "./routes.ts"
import { Table } from "./Table.tsx"
import { VoteLinks } from "./VoteLinks.tsx"

export const ExpertPage = ({ expertId }: { readonly expertId: string }) => {
  const resource = useResource(
    expertId,
    () => ask("GET /experts/:expert_id", { params: { expert_id: expertId } }),
    10_000,
  )
  const qualification = useResource("qualification", () => ask("GET /qualification"), 10_000)
  const standing = qualification.data?.standings.find(({ expert_id }) => expert_id === expertId)
  const reload = () => void resource.reload()
  const nothing = resource.data?.voidings.length === 0 ? "There are no votes yet." : "There are no valid votes."
  return (
    <>
      <p class="trail">
        <a href={href("experts")}>Experts</a>
      </p>
      <PageHeading title={resource.data?.name ?? "Expert"} />
      <Loaded resource={resource}>
        {(expert) => (
          <>
            <Summary expert={expert} standing={standing} reload={reload} />
            {expert.judged > 0 && <VoteLinks filter={{ expert: expertId }} />}
            <Section id="days" title="Votes by day">
              <Days days={expert.days} nothing={nothing} />
            </Section>
            <Section id="places" title="Position habit">
              <Places latest={expert.latest} nothing={nothing} />
            </Section>
            {expert.voidings.length > 0 && (
              <Section id="voidings" title="Void votes">
                <Voidings expert={expert} reload={reload} />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

const shareOf = (part: number, of: number, nothing: string) =>
  of === 0 ? (
    <span class="muted">{nothing}</span>
  ) : (
    <>
      {percent(part, of)}{" "}
      <span class="muted small">
        {count(part)} of {count(of)}
      </span>
    </>
  )

const Summary = ({
  expert,
  standing,
  reload,
}: {
  readonly expert: ExpertDetail
  /** Undefined if no qualification is required. */
  readonly standing: Standing | undefined
  readonly reload: () => void
}) => {
  const mayChange = useMay("manager")
  const { gold, judged, latest, majority } = expert
  return (
    <section class="card padded stack" aria-label="Summary">
      <div class="row summary-head">
        <dl class="facts">
          <Fact label="Valid votes">
            <a href={href("items", { expert: expert.expert_id })}>{count(judged)}</a>
          </Fact>
          {standing !== undefined && (
            <Fact label="Qualification">
              {standing.state === "working" ? "gets work" : <StandingBadge standing={standing} />}
            </Fact>
          )}
          <Fact label="Agrees with the others">{shareOf(majority.agreed, majority.of, "nothing to compare")}</Fact>
          <Fact label="Right on gold items in tasks">{shareOf(gold.right, gold.of, "none judged")}</Fact>
          <Fact label="Median time for a vote" title={`Of the latest ${plural(latest.votes, "vote")}`}>
            {latest.median_seconds === null ? <span class="muted">unknown</span> : seconds(latest.median_seconds)}
          </Fact>
        </dl>
        {mayChange && judged > 0 && <VoidButton expert={expert} reload={reload} />}
      </div>
    </section>
  )
}

const outcomeOf = ({ reopened, tasks, votes }: Voided) =>
  `${plural(votes, "vote")} in ${plural(tasks, "task")}${reopened > 0 ? `, ${plural(reopened, "task")} open again` : ""}.`

const VoidButton = ({ expert, reload }: { readonly expert: ExpertDetail; readonly reload: () => void }) => (
  <ConfirmButton
    class="danger"
    button="Void votes"
    title={`Void all votes of ${expert.name}?`}
    confirm={`Void ${plural(expert.judged, "vote")}`}
    danger
    ask={(values) =>
      ask("POST /experts/:expert_id/void", {
        params: { expert_id: expert.expert_id },
        payload: { reason: values.text("reason") },
      })
    }
    said={(voided) => `Void: ${outcomeOf(voided)}`}
    onDone={reload}
  >
    <ul class="stack tight">
      <li>The votes are kept, marked as void, and count no longer.</li>
      <li>Results are made from the other votes. Clients that have a result already are told.</li>
      <li>Prompts that miss a vote by it return to the queue, for other experts.</li>
    </ul>
    <p>
      You can undo it, except for votes that were replaced meanwhile.
      {expert.active && " The expert stays active, and can go on judging other prompts."}
    </p>
    <Field name="reason" label="Reason (optional)" maxLength={maxLength.reason} />
  </ConfirmButton>
)

const Places = ({ latest, nothing }: { readonly latest: ExpertDetail["latest"]; readonly nothing: string }) =>
  latest.votes === 0 ? (
    <p class="muted">{nothing}</p>
  ) : (
    <>
      <p class="muted">
        Where the preferred completion was shown, in the latest {plural(latest.votes, "vote")}. Orders are drawn at
        random: without a habit, each place has the same share.
      </p>
      <Table
        label="Choices by place"
        rows={latest.places}
        keyOf={({ completions }) => String(completions)}
        columns={[
          { label: "Completions", cell: ({ completions }) => count(completions) },
          {
            label: "Votes",
            cell: ({ chosen }) => count(chosen.reduce((sum, n) => sum + n, 0)),
          },
          {
            label: "Share of each place",
            cell: ({ chosen }) => {
              const total = chosen.reduce((sum, n) => sum + n, 0)
              return chosen.map((n, i) => `${i + 1}: ${percent(n, total) ?? "0 %"}`).join(", ")
            },
          },
          { label: "Without a habit", cell: ({ completions }) => `${percent(1, completions)} each` },
        ]}
      />
    </>
  )

const Voidings = ({ expert, reload }: { readonly expert: ExpertDetail; readonly reload: () => void }) => (
  <Table
    label="Void votes"
    rows={expert.voidings}
    keyOf={({ voiding_id }) => String(voiding_id)}
    columns={[
      { label: "When", cell: ({ at }) => <Time at={at} /> },
      { label: "By", cell: ({ by }) => <bdi>{by}</bdi> },
      { label: "Reason", class: "anywhere", cell: ({ reason }) => (reason === "" ? null : reason) },
      { label: "Void votes", cell: ({ votes }) => count(votes) },
      {
        label: "Undone",
        nothing: "no",
        cell: ({ undone_at, undone_by }) =>
          undone_at && (
            <>
              by <bdi>{undone_by}</bdi>, <Time at={undone_at} />
            </>
          ),
      },
      {
        label: "",
        cell: ({ at, voiding_id, votes }) =>
          votes > 0 && (
            <For role="manager">
              <ActionButton
                class="compact"
                label={`Undo: ${plural(votes, "vote")} void since ${new Date(at).toISOString()}`}
                ask={() => ask("POST /voidings/:voiding_id/undo", { params: { voiding_id } })}
                said="The votes that were not replaced count again."
                onDone={reload}
              >
                Undo
              </ActionButton>
            </For>
          ),
      },
    ]}
  />
)
