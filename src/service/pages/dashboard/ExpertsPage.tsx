/**
 * Experts: invited, active or not, and how well they judge.
 *
 * Guarantees: an invitation link is shown only from its creation until it is dismissed or the page is left.
 */
import { useContext, useState } from "preact/hooks"
import type { ExpertSummary, NewInvitation } from "../../pageApi/DashboardApi.ts"
import type { Standing } from "../../pageApi/QualificationApi.ts"
import * as client from "./client.ts"
import { Confirm } from "./Confirm.tsx"
import { count, percent } from "./format.ts"
import { Say, useAction, useResource } from "./hooks.ts"
import { NameForm } from "./FieldForm.tsx"
import { Secret } from "./Copy.tsx"
import { Badge, Loaded, PageHeading, Problem, Time } from "./parts.tsx"
import { QualificationDialog, QualificationSummary, StandingBadge, StandingDialog } from "./Qualification.tsx"
import * as qualificationClient from "./qualificationClient.ts"
import { format } from "./routes.ts"
import { For, useMay } from "./role.tsx"
import { Table } from "./Table.tsx"
import { VoteLinks } from "./VoteLinks.tsx"
import type { Label } from "./wording.ts"

export const ExpertsPage = () => {
  const resource = useResource("experts", client.experts, 10_000)
  const qualification = useResource("qualification", qualificationClient.read, 10_000)
  const [requiring, setRequiring] = useState(false)
  const [admitting, setAdmitting] = useState<ExpertSummary>()
  const [made, setMade] = useState<NewInvitation>()
  const [renewing, setRenewing] = useState<ExpertSummary>()
  const [stopping, setStopping] = useState<ExpertSummary>()
  const say = useContext(Say)
  const mayInvite = useMay("manager")
  const reload = () => {
    void resource.reload()
    void qualification.reload()
  }
  const required = qualification.data
  const standings = new Map(required?.standings.map((standing) => [standing.expert_id, standing]))
  const standing = admitting && standings.get(admitting.expert_id)
  const show = (invitation: NewInvitation) => {
    setMade(invitation)
    reload()
  }
  return (
    <>
      <PageHeading title="Experts" />
      <p class="muted">
        Who judges. People join with a link, and rank completions on a page of their own; automatic experts come with
        the service’s configuration.
      </p>
      <VoteLinks filter={{}} />
      {made !== undefined && (
        <Secret
          key={made.invitation}
          heading="h2"
          title={`Invitation for ${made.expert.name}`}
          label={`Invitation link for ${made.expert.name}`}
          what="link"
          value={new URL(made.invitation, location.origin).href}
          onDone={() => {
            setMade(undefined)
            document.getElementById("experts-name")?.focus()
          }}
        >
          <p>
            Send it to the expert now: it can’t be shown again. It works once, for 7 days, and whoever opens it judges
            as <bdi>{made.expert.name}</bdi>.
          </p>
        </Secret>
      )}
      <For role="manager">
        <NameForm
          id="experts-name"
          form="Invite an expert"
          label="Name of the expert"
          placeholder="Ada Lovelace"
          hint="A name by which you know the expert"
          submit="Invite expert"
          ask={client.invite}
          onDone={show}
        />
      </For>
      <Loaded resource={resource}>
        {({ experts }) =>
          experts.length === 0 ? (
            <p class="card nothing">Nobody judges yet.{mayInvite && " Invite the first expert."}</p>
          ) : (
            <ExpertTable
              experts={experts}
              standings={standings}
              onAdmit={setAdmitting}
              onRenew={setRenewing}
              onStop={setStopping}
              reload={reload}
            />
          )
        }
      </Loaded>
      <Loaded resource={qualification}>
        {(qualification) => <QualificationSummary qualification={qualification} onChange={() => setRequiring(true)} />}
      </Loaded>
      {requiring && required !== undefined && (
        <QualificationDialog qualification={required} onClose={() => setRequiring(false)} reload={reload} />
      )}
      {admitting !== undefined && standing !== undefined && required?.settings && (
        <StandingDialog
          expert={admitting}
          settings={required.settings}
          standing={standing}
          onClose={() => setAdmitting(undefined)}
          reload={reload}
        />
      )}
      {renewing !== undefined && (
        <Confirm
          title="Make a new link?"
          confirm="Make link"
          ask={() => client.inviteAgain(renewing.expert_id)}
          onClose={() => setRenewing(undefined)}
          onDone={show}
        >
          <p>
            For <bdi>{renewing.name}</bdi>, to join or to work on another device. Links made before stop working; where
            the expert is signed in already, that goes on.
          </p>
        </Confirm>
      )}
      {stopping !== undefined && (
        <Confirm
          title="Deactivate this expert?"
          confirm="Deactivate"
          danger
          ask={() => client.setActive(stopping.expert_id, false)}
          onClose={() => setStopping(undefined)}
          onDone={() => {
            say(`${stopping.name} is no longer active.`)
            reload()
          }}
        >
          <p>
            <bdi>{stopping.name}</bdi> is signed out, and what he or she holds returns to the queue. Votes given so far
            stay. You can activate the expert again later.
          </p>
        </Confirm>
      )}
    </>
  )
}

const stateOf = (expert: ExpertSummary): Label => {
  if (expert.kind === "automatic") return { words: "Automatic", tone: "neutral" }
  return expert.joined ? { words: "Joined", tone: "good" } : { words: "Invited", tone: "accent" }
}

const Share = ({ part, of }: { readonly part: number; readonly of: number }) => {
  const share = percent(part, of)
  return (
    <span class="nowrap">
      {share}{" "}
      <span class="muted small">
        {count(part)} of {count(of)}
      </span>
    </span>
  )
}

interface RowProps {
  readonly onStop: (expert: ExpertSummary) => void
  readonly reload: () => void
}

const ExpertTable = ({
  experts,
  standings,
  onAdmit,
  onRenew,
  ...props
}: RowProps & {
  readonly experts: ReadonlyArray<ExpertSummary>
  /** Empty where no qualification is required. */
  readonly standings: ReadonlyMap<string, Standing>
  readonly onAdmit: (expert: ExpertSummary) => void
  readonly onRenew: (expert: ExpertSummary) => void
}) => {
  const mayChange = useMay("manager")
  return (
    <Table
      label="Experts"
      rows={experts}
      keyOf={({ expert_id }) => expert_id}
      columns={[
        {
          label: "Expert",
          class: "anywhere",
          cell: ({ expert_id, name }) => (
            <a href={format({ page: "expert", expertId: expert_id })}>
              <bdi>{name}</bdi>
            </a>
          ),
        },
        {
          label: "State",
          cell: (expert) => {
            const standing = standings.get(expert.expert_id)
            const isAsked = standing !== undefined && expert.joined && standing.state !== "working"
            return isAsked ? <StandingBadge standing={standing} /> : <Badge label={stateOf(expert)} />
          },
        },
        { label: "Active", cell: (expert) => <Active expert={expert} {...props} /> },
        { label: "Judged", cell: ({ judged }) => count(judged) },
        {
          label: "Agrees with the others",
          nothing: "nothing to compare",
          cell: ({ majority: { agreed, of } }) => (of === 0 ? null : <Share part={agreed} of={of} />),
        },
        {
          label: "Right on gold items in tasks",
          nothing: "none judged",
          cell: ({ gold: { of, right } }) => (of === 0 ? null : <Share part={right} of={of} />),
        },
        {
          label: "Last seen",
          nothing: "never",
          cell: ({ last_seen_at }) => last_seen_at && <Time at={last_seen_at} />,
        },
        {
          label: "",
          cell: (expert) =>
            mayChange &&
            expert.kind === "person" &&
            expert.active && (
              <span class="row tight">
                {standings.has(expert.expert_id) && (
                  <button
                    type="button"
                    class="button compact"
                    aria-label={`Qualification of ${expert.name}`}
                    onClick={() => onAdmit(expert)}
                  >
                    Qualification
                  </button>
                )}
                <button
                  type="button"
                  class="button compact"
                  aria-label={`New link for ${expert.name}`}
                  onClick={() => onRenew(expert)}
                >
                  New link
                </button>
              </span>
            ),
        },
      ]}
    />
  )
}

const Active = ({ expert, onStop, reload }: RowProps & { readonly expert: ExpertSummary }) => {
  const action = useAction()
  const say = useContext(Say)
  if (!useMay("manager")) return <>{expert.active ? "yes" : "no"}</>
  return (
    <>
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={expert.active}
        aria-label={`${expert.name} is active`}
        aria-disabled={action.busy}
        onClick={() => {
          if (expert.active) return onStop(expert)
          void action.run(
            () => client.setActive(expert.expert_id, true),
            () => {
              say(`${expert.name} is active.`)
              reload()
            },
          )
        }}
      >
        <span aria-hidden="true" />
      </button>
      <Problem words={action.problem} />
    </>
  )
}
