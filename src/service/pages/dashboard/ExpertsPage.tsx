/**
 * The list of experts: who is invited or active, and how well they judge.
 *
 * Guarantees: an invitation link is shown only from its creation until it is dismissed or the page is left.
 */
import { useContext, useState } from "preact/hooks"
import type { ExpertSummary, NewInvitation } from "../../pageApi/ExpertsApi.ts"
import { ask } from "./client.ts"
import { Confirm, ConfirmButton } from "./Confirm.tsx"
import { Secret } from "./Copy.tsx"
import { count, percent } from "./format.ts"
import { Form, NameField } from "./forms.tsx"
import { Say, useAction, useResource } from "./hooks.ts"
import { List } from "./List.tsx"
import { Badge, Loaded, PageHeading, Problem, Time } from "./parts.tsx"
import { QualificationSummary, StandingBadge, StandingButton } from "./Qualification.tsx"
import { For, useMay } from "./role.tsx"
import { href } from "./routes.ts"
import { VoteLinks } from "./VoteLinks.tsx"
import type { Label } from "./wording.ts"

export const ExpertsPage = () => {
  const resource = useResource("experts", () => ask("GET /experts"), 10_000)
  const qualification = useResource("qualification", () => ask("GET /qualification"), 10_000)
  const [made, setMade] = useState<NewInvitation>()
  const mayChange = useMay("manager")
  const reload = () => {
    void resource.reload()
    void qualification.reload()
  }
  const required = qualification.data
  const standings = new Map(required?.standings.map((standing) => [standing.expert_id, standing]))
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
        <Form
          class="line-form"
          label="Invite an expert"
          submit="Invite expert"
          ask={(values) => ask("POST /experts", { payload: { name: values.text("name") } })}
          onDone={show}
        >
          <NameField
            id="experts-name"
            name="name"
            label="Name of the expert"
            placeholder="Ada Lovelace"
            title="A name by which you know the expert"
          />
        </Form>
      </For>
      <List
        resource={resource}
        nothing={`Nobody judges yet.${mayChange ? " Invite the first expert." : ""}`}
        label="Experts"
        rows={({ experts }) => experts}
        keyOf={({ expert_id }) => expert_id}
        columns={[
          {
            label: "Expert",
            class: "anywhere",
            cell: ({ expert_id, name }) => (
              <a href={href("expert", { id: expert_id })}>
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
          { label: "Active", cell: (expert) => <Active expert={expert} reload={reload} /> },
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
            cell: (expert) => {
              const standing = standings.get(expert.expert_id)
              return (
                mayChange &&
                expert.kind === "person" &&
                expert.active && (
                  <span class="row tight">
                    {standing !== undefined && required?.settings && (
                      <StandingButton
                        expert={expert}
                        settings={required.settings}
                        standing={standing}
                        reload={reload}
                      />
                    )}
                    <ConfirmButton
                      button="New link"
                      label={`New link for ${expert.name}`}
                      title="Make a new link?"
                      confirm="Make link"
                      ask={() => ask("POST /experts/:expert_id/invite", { params: { expert_id: expert.expert_id } })}
                      onDone={show}
                    >
                      <p>
                        For <bdi>{expert.name}</bdi>, to join or to work on another device. Links made before stop
                        working; where the expert is signed in already, that goes on.
                      </p>
                    </ConfirmButton>
                  </span>
                )
              )
            },
          },
        ]}
      />
      <Loaded resource={qualification}>
        {(qualification) => <QualificationSummary qualification={qualification} reload={reload} />}
      </Loaded>
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

const Active = ({ expert, reload }: { readonly expert: ExpertSummary; readonly reload: () => void }) => {
  const action = useAction()
  const say = useContext(Say)
  const [isStopping, setStopping] = useState(false)
  if (!useMay("manager")) return <>{expert.active ? "yes" : "no"}</>
  const setActive = (active: boolean) =>
    ask("PUT /experts/:expert_id/active", { params: { expert_id: expert.expert_id }, payload: { active } })
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
          if (expert.active) return setStopping(true)
          void action.run(
            () => setActive(true),
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
      {isStopping && (
        <Confirm
          title="Deactivate this expert?"
          confirm="Deactivate"
          danger
          ask={() => setActive(false)}
          said={`${expert.name} is no longer active.`}
          onClose={() => setStopping(false)}
          onDone={reload}
        >
          <p>
            <bdi>{expert.name}</bdi> is signed out, and what he or she holds returns to the queue. Votes given so far
            stay. You can activate the expert again later.
          </p>
        </Confirm>
      )}
    </>
  )
}
