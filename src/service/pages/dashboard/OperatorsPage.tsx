/** The list of operators. A new sign-in link is shown until it is dismissed or the page is left. */
import { useContext, useState } from "preact/hooks"
import type { OperatorLink } from "../../pageApi/OperatorsApi.ts"
import { linkHours } from "../../pageApi/PageConstants.ts"
import { ask } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { Secret } from "./Copy.tsx"
import { Form, NameField } from "./forms.tsx"
import { useResource } from "./hooks.ts"
import { List } from "./List.tsx"
import { Badge, PageHeading, Time } from "./parts.tsx"
import { Me, RoleChoice, roleOf, roleWords } from "./role.tsx"
import { href } from "./routes.ts"

export const OperatorsPage = () => {
  const resource = useResource("operators", () => ask("GET /operators"), 30_000)
  const [made, setMade] = useState<OperatorLink>()
  const me = useContext(Me)
  const show = (link: OperatorLink) => {
    setMade(link)
    void resource.reload()
  }
  return (
    <>
      <PageHeading title="Operators">
        <a href={href("audit")}>Audit log</a>
      </PageHeading>
      <p class="muted">Operators can sign in to this dashboard. To invite people who judge, go to Experts.</p>
      {made !== undefined && (
        <Secret
          heading="h2"
          title={`Link for ${made.operator.name}`}
          label="Sign-in link"
          what="link"
          value={new URL(made.link, location.origin).href}
          onDone={() => setMade(undefined)}
          focusAfter="operators-name"
        >
          <p>
            Send the link to <bdi>{made.operator.name}</bdi> now: it can’t be shown again. The link works once, within{" "}
            {linkHours["sign-in"]} hours. Whoever opens it chooses the account’s password.
          </p>
        </Secret>
      )}
      <Form
        class="stack card padded narrow-form"
        label="Add an operator"
        submit="Add operator"
        ask={(values) => ask("POST /operators", { payload: { name: values.text("name"), role: roleOf(values) } })}
        onDone={show}
      >
        <NameField id="operators-name" name="name" label="Name of the operator" placeholder="Grace Hopper" />
        <RoleChoice value="manager" />
      </Form>
      <List
        resource={resource}
        nothing="There are no operators."
        label="Operators"
        rows={({ operators }) => operators}
        keyOf={({ operator_no }) => operator_no}
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
            cell: ({ name, operator_no, role }) => (
              <ConfirmButton
                look="link"
                text={roleWords[role]}
                label={`${roleWords[role]}: change the role of ${name}`}
                title={`Role of ${name}`}
                confirm="Set role"
                ask={(values) =>
                  ask("PUT /operators/:operator_no/role", {
                    params: { operator_no },
                    payload: { role: roleOf(values) },
                  })
                }
                success={({ role }) => `${name} is ${role === "admin" ? "an" : "a"} ${role} now.`}
              >
                <RoleChoice value={role} />
              </ConfirmButton>
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
            cell: ({ name, operator_no }) => (
              <>
                <ConfirmButton
                  text="New link"
                  label={`New link for ${name}`}
                  title="Make a new link?"
                  confirm="Make link"
                  ask={() => ask("POST /operators/:operator_no/link", { params: { operator_no } })}
                  onDone={show}
                >
                  <p>
                    With the new link, <bdi>{name}</bdi> can choose a new password. Earlier links stop working. The
                    current password and sessions stay valid until the new link is used.
                  </p>
                </ConfirmButton>
                <ConfirmButton
                  look="danger compact"
                  text="Remove"
                  label={`Remove ${name}`}
                  title="Remove this operator?"
                  confirm="Remove operator"
                  keep="Keep operator"
                  danger
                  ask={() => ask("DELETE /operators/:operator_no", { params: { operator_no } })}
                  success={`${name} is removed.`}
                >
                  <p>
                    <bdi>{name}</bdi> is signed out immediately and can no longer sign in. The audit log keeps the
                    operator’s actions.
                  </p>
                </ConfirmButton>
              </>
            ),
          },
        ]}
      />
    </>
  )
}
