/** Shows the operator's own role, and changes the password. */
import { useContext, useState } from "preact/hooks"
import { Say, useAction } from "./hooks.ts"
import { ask } from "./client.ts"
import { Fact, PageHeading, Problem, Section } from "./parts.tsx"
import { Me, roleHints, roleWords } from "./role.tsx"
import { PasswordField } from "./SignIn.tsx"

export const AccountPage = () => {
  const { name, role } = useContext(Me)
  return (
    <>
      <PageHeading title="Your account" />
      <dl class="facts">
        <Fact label="Name">
          <bdi>{name}</bdi>
        </Fact>
        <Fact label="Role">
          {roleWords[role]} <span class="muted small">{roleHints[role]}</span>
        </Fact>
      </dl>
      <Section id="password" title="Change your password">
        <p class="muted">You stay signed in here; in all other places your sessions end.</p>
        <PasswordForm name={name} />
      </Section>
    </>
  )
}

const PasswordForm = ({ name }: { readonly name: string }) => {
  const [current, setCurrent] = useState("")
  const [password, setPassword] = useState("")
  const action = useAction()
  const say = useContext(Say)
  return (
    <form
      class="stack narrow-form"
      aria-label="Change your password"
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(
          () => ask("PUT /password", { payload: { current, password } }),
          () => {
            setCurrent("")
            setPassword("")
            say("Your password is changed.")
          },
        )
      }}
    >
      {/* This field tells password managers whose password it is. */}
      <input type="text" name="username" autocomplete="username" hidden readOnly value={name} />
      <PasswordField label="Present password" isNew={false} value={current} onInput={setCurrent} />
      <PasswordField label="New password" isNew value={password} onInput={setPassword} />
      <Problem words={action.problem} />
      <button type="submit" class="button primary" aria-disabled={action.busy}>
        {action.busy ? "Changing …" : "Change password"}
      </button>
    </form>
  )
}
