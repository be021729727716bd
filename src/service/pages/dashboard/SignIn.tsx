/** The sign-in pages. The code of a sign-in link stays in the address until it is used, so the page can be reloaded. */
import type { ComponentChildren } from "preact"
import { useEffect, useId, useState } from "preact/hooks"
import type { Account } from "../../pageApi/OperatorsApi.ts"
import { maxLength, minPasswordLength } from "../../pageApi/PageConstants.ts"
import type { Answer } from "../shared/api.ts"
import { Button } from "../shared/Button.tsx"
import { askSignedOut } from "./client.ts"
import { Field, Form } from "./forms.tsx"
import { useResource } from "./hooks.ts"
import { Problem } from "./parts.tsx"
import { signInWords } from "./wording.ts"

export const Entrance = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => {
  useEffect(() => {
    document.title = `${title} · prefstream`
  }, [title])
  return (
    <main class="stack entrance">
      <p class="brand">prefstream</p>
      <div class="card stack">
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </div>
    </main>
  )
}

interface PasswordFieldProps {
  readonly label?: string
  readonly name: "password" | "new-password"
}

export const PasswordField = ({ label = "Password", name }: PasswordFieldProps) => {
  const id = useId()
  const [isShown, setShown] = useState(false)
  const isNew = name === "new-password"
  return (
    <div class="stack field">
      <label for={id}>{label}</label>
      <div class="password">
        <input
          class="input"
          id={id}
          {...(isShown ? ({ type: "text" } as const) : ({ type: "password" } as const))}
          name={name}
          autocomplete={isNew ? "new-password" : "current-password"}
          required
          minLength={isNew ? minPasswordLength : undefined}
          maxLength={maxLength.password}
          aria-describedby={isNew ? `${id}-hint` : undefined}
          spellcheck={false}
          autocapitalize="off"
        />
        <Button
          text={isShown ? "Hide" : "Show"}
          label={`Show ${label.toLowerCase()}`}
          aria-pressed={isShown}
          onClick={() => setShown(!isShown)}
        />
      </div>
      {isNew && (
        <p class="small muted" id={`${id}-hint`}>
          At least {minPasswordLength} characters. Several words make a good password.
        </p>
      )}
    </div>
  )
}

interface CredentialsFormProps {
  readonly password: "password" | "new-password"
  /** The name of the account. Undefined if the user can choose the name. */
  readonly account?: string | undefined
  readonly submit: string
  readonly submitting: string
  readonly ask: (credentials: { readonly name: string; readonly password: string }) => Promise<Answer<Account>>
  readonly onSignedIn: (account: Account) => void
}

const CredentialsForm = ({ password, account, submit, submitting, ask, onSignedIn }: CredentialsFormProps) => (
  <Form
    submit={submit}
    submitting={submitting}
    words={signInWords}
    ask={({ raw, text }) => ask({ name: text("username"), password: raw(password) })}
    onDone={onSignedIn}
  >
    <Field
      name="username"
      label="Name"
      autocomplete="username"
      autocapitalize="off"
      spellcheck={false}
      required
      maxLength={maxLength.name}
      readOnly={account !== undefined}
      value={account}
    />
    <PasswordField name={password} />
  </Form>
)

export const SignInForm = ({ onSignedIn }: { readonly onSignedIn: (account: Account) => void }) => (
  <CredentialsForm
    password="password"
    submit="Sign in"
    submitting="Signing in …"
    ask={(payload) => askSignedOut("POST /sign-in", { payload })}
    onSignedIn={onSignedIn}
  />
)

export const SignIn = ({ onSignedIn }: { readonly onSignedIn: (account: Account) => void }) => (
  <Entrance title="Sign in">
    <SignInForm onSignedIn={onSignedIn} />
    <details class="small muted">
      <summary>No account yet, or forgot your password?</summary>
      <p>
        An admin can create a sign-in link for you under Operators. The service also prints a link when it first starts,
        and whenever it is started with <code>--sign-in-link</code>. Use the link to create an account or set a new
        password.
      </p>
    </details>
  </Entrance>
)

interface SetUpProps {
  readonly code: string
  readonly onSignedIn: (account: Account) => void
  readonly onLeave: () => void
}

export const SetUp = ({ code, onSignedIn, onLeave }: SetUpProps) => {
  const link = useResource(code, () => askSignedOut("POST /link", { payload: { code } }), undefined)
  const leave = <Button look="link" text="Sign in with an existing account" onClick={onLeave} />
  if (link.data === undefined) {
    return link.problem === undefined ? (
      <p class="muted late first">Loading …</p>
    ) : (
      <Entrance title="The link does not work">
        <Problem words={link.problem} />
        <p>{leave}</p>
      </Entrance>
    )
  }
  const account = link.data.name ?? undefined
  const choice = account === undefined ? "the name and the password" : "the password"
  return (
    <Entrance title="Set up your account">
      <p>Choose {choice} with which you will sign in to this service’s dashboard.</p>
      <CredentialsForm
        password="new-password"
        account={account}
        submit="Set up and sign in"
        submitting="Setting up …"
        ask={(credentials) => askSignedOut("POST /set-up", { payload: { code, ...credentials } })}
        onSignedIn={onSignedIn}
      />
      <p class="small muted">The link can be used once. {leave}</p>
    </Entrance>
  )
}
