/** The list of experts. An invitation link is shown until it is dismissed or the page is left. */
import { useContext, useEffect, useState } from "preact/hooks"
import type { ExpertSummary, NewInvitation } from "../../pageApi/ExpertsApi.ts"
import { linkHours } from "../../pageApi/PageConstants.ts"
import type { Standing } from "../../pageApi/QualificationApi.ts"
import { ask, both } from "./client.ts"
import { Confirm, ConfirmButton } from "./Confirm.tsx"
import { Secret } from "./Copy.tsx"
import { count } from "./format.ts"
import { Form, NameField } from "./forms.tsx"
import { Reload, Say, useAction, useResource } from "./hooks.ts"
import { Invitations, InviteSeveral } from "./Invitations.tsx"
import { askPage, type Filter, filtered, FilterLinks, type FilterName, List } from "./List.tsx"
import { Badge, NameLink, PageHeading, Problem, shareOf, Time } from "./parts.tsx"
import { QualificationSummary, StandingBadge, StandingButton } from "./Qualification.tsx"
import { For, useMay } from "./role.tsx"
import { href, type Query } from "./routes.ts"
import { VoteLinks } from "./VoteLinks.tsx"

const byKind: Filter<FilterName<"GET /experts">> = {
  name: "kind",
  label: "Experts by kind",
  as: "links",
  options: Object.entries({ person: "People", judge: "AI judges", automatic: "Automatic" }),
}

export const ExpertsPage = ({ query: address }: { readonly query: Query }) => {
  const query = filtered(address, [byKind])
  const load = () => both(askPage("GET /experts", query), ask("GET /qualification"))
  const resource = useResource(JSON.stringify(query), load, 10_000)
  const [invitation, setInvitation] = useState<NewInvitation>()
  const [invitations, setInvitations] = useState<ReadonlyArray<NewInvitation>>([])
  const mayChange = useMay("manager")
  const nobody = `Nobody judges yet.${mayChange ? " Invite the first expert." : ""}`
  const settings = resource.data?.settings ?? null
  const standings = new Map(resource.data?.standings.map((standing) => [standing.expert_id, standing]))
  const show = (invitation: NewInvitation) => {
    setInvitation(invitation)
    void resource.reload()
  }
  return (
    <>
      <PageHeading title="Experts" />
      <p class="muted">
        Experts judge prompts. People join with a link and work on the annotation page. Automatic experts come from the
        service’s configuration.
      </p>
      <VoteLinks filter={{}} />
      {invitation !== undefined && (
        <Secret
          key={invitation.invitation}
          heading="h2"
          title={`Invitation for ${invitation.expert.name}`}
          label={`Invitation link for ${invitation.expert.name}`}
          what="link"
          value={new URL(invitation.invitation, location.origin).href}
          onDone={() => setInvitation(undefined)}
          focusAfter="experts-name"
        >
          <p>
            Send the link to the expert now: it can’t be shown again. The link works once, and expires after{" "}
            {linkHours.invitation / 24} days. The person who opens the link votes under the name{" "}
            <bdi>{invitation.expert.name}</bdi>.
          </p>
        </Secret>
      )}
      {invitations.length > 0 && (
        <Invitations
          key={invitations[0]!.invitation}
          invitations={invitations}
          onDone={() => {
            setInvitations([])
            document.getElementById("experts-name")?.focus()
          }}
        />
      )}
      <For role="manager">
        <Form
          class="row line-form"
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
        <div>
          <InviteSeveral
            onMade={(invitations) => {
              setInvitations(invitations)
              void resource.reload()
            }}
          />
        </div>
      </For>
      <FilterLinks filter={byKind} page="experts" query={query} />
      <List
        resource={resource}
        nothing={query["kind"] === undefined ? nobody : "No expert matches."}
        label="Experts"
        rows={({ experts }) => experts}
        keyOf={({ expert_id }) => expert_id}
        columns={[
          {
            label: "Expert",
            class: "anywhere",
            cell: ({ expert_id, name }) => <NameLink to={href("expert", { id: expert_id })} name={name} />,
          },
          { label: "State", cell: (expert) => <State expert={expert} standing={standings.get(expert.expert_id)} /> },
          { label: "Active", cell: (expert) => <Active expert={expert} /> },
          { label: "Judged", cell: ({ judged }) => count(judged) },
          {
            label: "Agrees with other experts",
            nothing: "nothing to compare",
            cell: ({ majority: { agreed, of } }) => shareOf(agreed, of),
          },
          {
            label: "Gold items right (excluding qualification)",
            nothing: "none judged",
            cell: ({ gold: { of, right } }) => shareOf(right, of),
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
                    {standing !== undefined && settings !== null && (
                      <StandingButton expert={expert} settings={settings} standing={standing} />
                    )}
                    <NewLink expert={expert} onMade={show} />
                  </span>
                )
              )
            },
          },
        ]}
        below={(qualification) => <QualificationSummary qualification={qualification} />}
      />
    </>
  )
}

interface NewLinkProps {
  readonly expert: ExpertSummary
  readonly onMade: (invitation: NewInvitation) => void
}

const NewLink = ({ expert: { expert_id, name }, onMade }: NewLinkProps) => (
  <ConfirmButton
    text="New link"
    label={`New link for ${name}`}
    title="Make a new link?"
    confirm="Make link"
    ask={() => ask("POST /experts/:expert_id/invite", { params: { expert_id } })}
    onDone={onMade}
  >
    <p>
      With the new link, <bdi>{name}</bdi> can join or work on another device. Earlier links stop working. Devices that
      are already signed in stay signed in.
    </p>
  </ConfirmButton>
)

interface StateProps {
  readonly expert: ExpertSummary
  readonly standing: Standing | undefined
}

const State = ({ expert: { joined, kind }, standing }: StateProps) => {
  if (kind === "judge") return <Badge label={{ words: "AI judge", tone: "neutral" }} />
  if (kind === "automatic") return <Badge label={{ words: "Automatic", tone: "neutral" }} />
  if (!joined) return <Badge label={{ words: "Invited", tone: "accent" }} />
  return standing === undefined || standing.state === "working" ? (
    <Badge label={{ words: "Joined", tone: "good" }} />
  ) : (
    <StandingBadge standing={standing} />
  )
}

const Active = ({ expert }: { readonly expert: ExpertSummary }) => {
  const { expert_id, name } = expert
  const action = useAction()
  const say = useContext(Say)
  const reload = useContext(Reload)
  const [isStopping, setStopping] = useState(false)
  // The switch changes before the list is loaded again. Otherwise, a second click would set the first value again.
  const [active, showActive] = useState(expert.active)
  useEffect(() => showActive(expert.active), [expert])
  if (!useMay("manager")) return <>{active ? "yes" : "no"}</>
  const setActive = (active: boolean) =>
    ask("PUT /experts/:expert_id/active", { params: { expert_id }, payload: { active } })
  const activate = () =>
    void action.run(
      () => setActive(true),
      () => {
        showActive(true)
        say(`${name} is active.`)
        reload()
      },
    )
  return (
    <>
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={active}
        aria-label={`${name} is active`}
        aria-disabled={action.busy}
        onClick={() => (active ? setStopping(true) : activate())}
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
          success={`${name} is no longer active.`}
          onDone={() => showActive(false)}
          onClose={() => setStopping(false)}
        >
          <p>
            <bdi>{name}</bdi> is signed out, and items that the expert holds return to the queue. Votes given so far are
            kept. You can activate the expert again later.
          </p>
        </Confirm>
      )}
    </>
  )
}
