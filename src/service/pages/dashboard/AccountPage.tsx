/** Shows the operator's role and a form to change the password. */
import { useContext } from "preact/hooks"
import { Facts } from "../shared/Facts.tsx"
import { ask } from "./client.ts"
import { Form } from "./forms.tsx"
import { PageHeading, Section } from "./parts.tsx"
import { Me, roleHints, roleWords } from "./role.tsx"
import { PasswordField } from "./SignIn.tsx"

export const AccountPage = () => {
  const { name, role } = useContext(Me)
  const roleFact = (
    <>
      {roleWords[role]} <span class="muted small">{roleHints[role]}</span>
    </>
  )
  return (
    <>
      <PageHeading title="Your account" />
      <Facts
        facts={[
          ["Name", <bdi>{name}</bdi>],
          ["Role", roleFact],
        ]}
      />
      <Section id="password" title="Change your password">
        <p class="muted">You stay signed in here. Your sessions in other browsers end.</p>
        <Form
          class="stack narrow-form"
          label="Change your password"
          submit="Change password"
          submitting="Changing …"
          ask={({ raw }) =>
            ask("PUT /password", { payload: { current: raw("password"), password: raw("new-password") } })
          }
          success="Your password was changed."
        >
          {/* Password managers read the account's name from this hidden field. */}
          <input type="text" name="username" autocomplete="username" hidden readOnly value={name} />
          <PasswordField label="Current password" name="password" />
          <PasswordField label="New password" name="new-password" />
        </Form>
      </Section>
    </>
  )
}
