/**
 * Operators: who may sign in to the dashboard, in which role.
 *
 * Guarantees: a link is shown only from its creation until it is dismissed or the page is left.
 */
import { useContext, useId, useState } from "preact/hooks"
import type { OperatorLink, OperatorSummary } from "../../pageApi/OperatorsApi.ts"
import { Confirm } from "./Confirm.tsx"
import { Secret } from "./Copy.tsx"
import { Say, useAction, useResource } from "./hooks.ts"
import * as operators from "./operatorsClient.ts"
import { Badge, Loaded, PageHeading, Problem, Time } from "./parts.tsx"
import { Me, type Role, RoleChoice, roleWords } from "./role.tsx"
import { format } from "./routes.ts"
import { Table } from "./Table.tsx"

type Asked = { readonly what: "renew" | "role" | "remove"; readonly operator: OperatorSummary }

export const OperatorsPage = () => {
  const resource = useResource("operators", operators.list, 30_000)
  const [made, setMade] = useState<OperatorLink>()
  const [asked, setAsked] = useState<Asked>()
  const reload = () => void resource.reload()
  const show = (link: OperatorLink) => {
    setMade(link)
    reload()
  }
  return (
    <>
      <PageHeading title="Operators">
        <a href={format({ page: "audit", actor: undefined, action: undefined, before: undefined })}>Audit log</a>
      </PageHeading>
      <p class="muted">Who may sign in to this dashboard. Experts, who judge, are invited under Experts.</p>
      {made !== undefined && (
        <Secret
          heading="h2"
          title={`Link for ${made.operator.name}`}
          label="Sign-in link"
          what="link"
          value={new URL(made.link, location.origin).href}
          onDone={() => {
            setMade(undefined)
            document.getElementById("operators-name")?.focus()
          }}
        >
          <p>
            Send it to <bdi>{made.operator.name}</bdi> now: it can’t be shown again. It works once, for 24 hours, and
            whoever opens it chooses the password of the account.
          </p>
        </Secret>
      )}
      <AddForm onDone={show} />
      <Loaded resource={resource}>{(data) => <OperatorTable operators={data.operators} onAsk={setAsked} />}</Loaded>
      {asked !== undefined && <Asking {...asked} onClose={() => setAsked(undefined)} onLink={show} reload={reload} />}
    </>
  )
}

const AddForm = ({ onDone }: { readonly onDone: (link: OperatorLink) => void }) => {
  const [name, setName] = useState("")
  const [role, setRole] = useState<Role>("manager")
  const action = useAction()
  const radios = useId()
  return (
    <form
      class="stack card padded narrow-form"
      aria-label="Add an operator"
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(
          () => operators.add(name.trim(), role),
          (link) => {
            setName("")
            onDone(link)
          },
        )
      }}
    >
      <div class="field">
        <label for="operators-name">Name of the operator</label>
        <input
          class="input"
          id="operators-name"
          type="text"
          required
          autocomplete="off"
          pattern={String.raw`.*\S.*`}
          maxLength={100}
          placeholder="Grace Hopper"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </div>
      <RoleChoice name={radios} value={role} onChange={setRole} />
      <Problem words={action.problem} />
      <button type="submit" class="button primary" aria-disabled={action.busy}>
        Add operator
      </button>
    </form>
  )
}

const OperatorTable = ({
  operators,
  onAsk,
}: {
  readonly operators: ReadonlyArray<OperatorSummary>
  readonly onAsk: (asked: Asked) => void
}) => {
  const me = useContext(Me)
  return (
    <Table
      label="Operators"
      rows={operators}
      keyOf={({ operator_no }) => String(operator_no)}
      columns={[
        {
          label: "Operator",
          class: "anywhere",
          cell: ({ name }) => (
            <>
              <bdi>{name}</bdi>
              {name === me.name && <span class="muted"> (you)</span>}
            </>
          ),
        },
        {
          label: "Role",
          cell: (operator) => (
            <button
              type="button"
              class="link"
              aria-label={`${roleWords[operator.role]}: change the role of ${operator.name}`}
              onClick={() => onAsk({ what: "role", operator })}
            >
              {roleWords[operator.role]}
            </button>
          ),
        },
        {
          label: "State",
          cell: ({ joined }) => (
            <Badge label={joined ? { words: "Joined", tone: "good" } : { words: "Invited", tone: "accent" }} />
          ),
        },
        { label: "Added", cell: ({ created_at }) => <Time at={created_at} /> },
        {
          label: "Last sign-in",
          nothing: "never",
          cell: ({ signed_in_at }) => signed_in_at && <Time at={signed_in_at} />,
        },
        {
          label: "",
          cell: (operator) => (
            <>
              <button
                type="button"
                class="button compact"
                aria-label={`New link for ${operator.name}`}
                onClick={() => onAsk({ what: "renew", operator })}
              >
                New link
              </button>
              <button
                type="button"
                class="button danger compact"
                aria-label={`Remove ${operator.name}`}
                onClick={() => onAsk({ what: "remove", operator })}
              >
                Remove
              </button>
            </>
          ),
        },
      ]}
    />
  )
}

const Asking = ({
  what,
  operator,
  onClose,
  onLink,
  reload,
}: Asked & {
  readonly onClose: () => void
  readonly onLink: (link: OperatorLink) => void
  readonly reload: () => void
}) => {
  const say = useContext(Say)
  const [role, setRole] = useState(operator.role)
  const radios = useId()
  const name = <bdi>{operator.name}</bdi>
  if (what === "renew") {
    return (
      <Confirm
        title="Make a new link?"
        confirm="Make link"
        ask={() => operators.renew(operator)}
        onClose={onClose}
        onDone={onLink}
      >
        <p>
          For {name}, to choose a new password. Links made before stop working; the present password and sessions go on
          until the link is used.
        </p>
      </Confirm>
    )
  }
  if (what === "role") {
    return (
      <Confirm
        title={`Role of ${operator.name}`}
        confirm="Set role"
        ask={() => operators.setRole(operator, role)}
        onClose={onClose}
        onDone={({ role }) => {
          say(`${operator.name} is ${role === "admin" ? "an" : "a"} ${role} now.`)
          reload()
        }}
      >
        <RoleChoice name={radios} value={role} onChange={setRole} />
      </Confirm>
    )
  }
  return (
    <Confirm
      title="Remove this operator?"
      confirm="Remove operator"
      keep="Keep operator"
      danger
      ask={() => operators.remove(operator)}
      onClose={onClose}
      onDone={() => {
        say(`${operator.name} is removed.`)
        reload()
      }}
    >
      <p>{name} is signed out immediately, and can’t sign in any more. What he or she has done stays on record.</p>
    </Confirm>
  )
}
