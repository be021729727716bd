/** Shows one expert: votes, pace, agreement, gold items, position bias, and votes that were declared void. */
import { maxLength } from "../../pageApi/PageConstants.ts"
import type { ExpertDetail, Voided } from "../../pageApi/ExpertsApi.ts"
import type { Standing } from "../../pageApi/QualificationApi.ts"
import { ask, both } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { count, percent, plural, seconds } from "./format.ts"
import { Field, NameField } from "./forms.tsx"
import { useResource } from "./hooks.ts"
import { Days } from "./Days.tsx"
import { ActionButton, Loaded, PageHeading, Section, shareOf, Summary, Time } from "./parts.tsx"
import { StandingBadge } from "./Qualification.tsx"
import { For, useMay } from "./role.tsx"
import { href } from "./routes.ts"
import { Table } from "./Table.tsx"
import { VoteLinks } from "./VoteLinks.tsx"

export const ExpertPage = ({ id: expertId }: { readonly id: string }) => {
  const resource = useResource(
    expertId,
    () => both(ask("GET /experts/:expert_id", { params: { expert_id: expertId } }), ask("GET /qualification")),
    10_000,
  )
  const nothing = resource.data?.voidings.length === 0 ? "There are no votes yet." : "There are no valid votes."
  return (
    <>
      <PageHeading title={resource.data?.name ?? "Expert"} under={["Experts", href("experts")]}>
        {resource.data?.kind === "person" && (
          <For role="manager">
            <Rename expert={resource.data} onDone={() => void resource.reload()} />
          </For>
        )}
      </PageHeading>
      <Loaded resource={resource}>
        {(expert) => (
          <>
            <ExpertSummary
              expert={expert}
              standing={expert.standings.find(({ expert_id }) => expert_id === expertId)}
            />
            {expert.judged > 0 && <VoteLinks filter={{ expert: expertId }} />}
            <Section id="days" title="Votes by day">
              <Days days={expert.days} nothing={nothing} />
            </Section>
            <Section id="places" title="Position bias">
              <Places latest={expert.latest} nothing={nothing} />
            </Section>
            {expert.voidings.length > 0 && (
              <Section id="voidings" title="Void votes">
                <Voidings expert={expert} />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

const Rename = ({
  expert: { expert_id, name },
  onDone,
}: {
  readonly expert: ExpertDetail
  readonly onDone: () => void
}) => (
  <ConfirmButton
    text="Rename"
    title={`Rename ${name}`}
    confirm="Rename"
    ask={(values) =>
      ask("PUT /experts/:expert_id/name", { params: { expert_id }, payload: { name: values.text("name") } })
    }
    success="The expert was renamed."
    onDone={onDone}
  >
    <p>Earlier votes get the new name, too. Results identify experts by an id, which does not change.</p>
    <NameField id="expert-name" name="name" label="Name" placeholder="" value={name} />
  </ConfirmButton>
)

interface SummaryProps {
  readonly expert: ExpertDetail
  /** Undefined if there are no qualification settings, or if the expert is not a person. */
  readonly standing: Standing | undefined
}

const ExpertSummary = ({ expert, standing }: SummaryProps) => {
  const mayChange = useMay("manager")
  const { gold, judged, latest, majority } = expert
  const muted = (text: string) => <span class="muted">{text}</span>
  return (
    <Summary
      facts={[
        ["Valid votes", <a href={href("items", { expert: expert.expert_id })}>{count(judged)}</a>],
        standing !== undefined && [
          "Qualification",
          standing.state === "working" ? "gets work" : <StandingBadge standing={standing} />,
        ],
        ["Agrees with other experts", shareOf(majority.agreed, majority.of) ?? muted("nothing to compare")],
        ["Gold items right (excluding qualification)", shareOf(gold.right, gold.of) ?? muted("none judged")],
        [
          "Median time for a vote",
          <span title={`Of the latest ${plural(latest.votes, "vote")}`}>
            {latest.median_seconds === null ? muted("unknown") : seconds(latest.median_seconds)}
          </span>,
        ],
      ]}
      actions={mayChange && judged > 0 && <VoidButton expert={expert} />}
    />
  )
}

const outcomeOf = ({ reopened, tasks, votes }: Voided) =>
  `${plural(votes, "vote")} in ${plural(tasks, "task")}${reopened > 0 ? `, ${plural(reopened, "task")} open again` : ""}.`

const VoidButton = ({ expert }: { readonly expert: ExpertDetail }) => (
  <ConfirmButton
    look="danger"
    text="Void votes"
    title={`Void all votes of ${expert.name}?`}
    confirm={`Void ${plural(expert.judged, "vote")}`}
    danger
    ask={(values) =>
      ask("POST /experts/:expert_id/void", {
        params: { expert_id: expert.expert_id },
        payload: { reason: values.text("reason") },
      })
    }
    success={(voided) => `Void: ${outcomeOf(voided)}`}
  >
    <ul class="stack tight">
      <li>The votes are kept, but are marked as void and no longer count.</li>
      <li>Results are computed from the other votes. Clients that already have a result are notified.</li>
      <li>Prompts that now lack a vote return to the queue for other experts.</li>
    </ul>
    <p>
      You can undo this later. Votes that other experts replace in the meantime stay void.
      {expert.active && " The expert stays active and can judge other prompts."}
    </p>
    <Field name="reason" label="Reason (optional)" maxLength={maxLength.reason} />
  </ConfirmButton>
)

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((a, b) => a + b, 0)

const Places = ({ latest, nothing }: { readonly latest: ExpertDetail["latest"]; readonly nothing: string }) =>
  latest.votes === 0 ? (
    <p class="muted">{nothing}</p>
  ) : (
    <>
      <p class="muted">
        Positions at which the preferred completion was shown, in the latest {plural(latest.votes, "vote")}. Orders are
        random: without position bias, each position has the same share.
      </p>
      <Table
        label="Choices by position"
        rows={latest.places}
        keyOf={({ completions }) => completions}
        columns={[
          { label: "Completions", cell: ({ completions }) => count(completions) },
          { label: "Votes", cell: ({ chosen }) => count(sum(chosen)) },
          {
            label: "Share of votes by position",
            cell: ({ chosen }) => chosen.map((n, i) => `${i + 1}: ${percent(n, sum(chosen)) ?? "0 %"}`).join(", "),
          },
          { label: "Without bias", cell: ({ completions }) => `${percent(1, completions)} each` },
        ]}
      />
    </>
  )

const Voidings = ({ expert }: { readonly expert: ExpertDetail }) => (
  <Table
    label="Void votes"
    rows={expert.voidings}
    keyOf={({ voiding_id }) => voiding_id}
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
                look="compact"
                text="Undo"
                label={`Undo: ${plural(votes, "vote")} void since ${new Date(at).toISOString()}`}
                ask={() => ask("POST /voidings/:voiding_id/undo", { params: { voiding_id } })}
                success="The votes count again, except votes that another expert has replaced or is replacing now."
              />
            </For>
          ),
      },
    ]}
  />
)
