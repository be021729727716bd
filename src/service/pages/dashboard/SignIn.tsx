/**
 * Signing in: with name and password, or with the link that the service prints, which sets them.
 *
 * Guarantees: forms that password managers understand. The code of a link stays in the address
 * until it is used up, so that a reload loses nothing, and leaves it then.
 */
import type { ComponentChildren } from "preact"
import { useEffect, useId, useState } from "preact/hooks"
import * as client from "./client.ts"
import { useAction } from "./hooks.ts"
import { Problem } from "./parts.tsx"
import { signInWords } from "./wording.ts"

const minPassword = 10

const Card = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => {
  useEffect(() => {
    document.title = `${title} · prefstream`
  }, [title])
  return (
    <main class="entrance">
      <p class="brand">prefstream</p>
      <div class="card padded">
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </div>
    </main>
  )
}

const PasswordField = ({
  label,
  value,
  autocomplete,
  hint,
  onInput,
}: {
  readonly label: string
  readonly value: string
  readonly autocomplete: "current-password" | "new-password"
  readonly hint?: string
  readonly onInput: (value: string) => void
}) => {
  const id = useId()
  const [shown, setShown] = useState(false)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="joined">
        <input
          class="input"
          id={id}
          {...(shown ? ({ type: "text" } as const) : ({ type: "password" } as const))}
          name="password"
          autocomplete={autocomplete}
          required
          minLength={autocomplete === "new-password" ? minPassword : undefined}
          maxLength={1000}
          value={value}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          spellcheck={false}
          autocapitalize="off"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
        <button
          type="button"
          class="button"
          aria-pressed={shown}
          aria-label="Show password"
          onClick={() => setShown(!shown)}
        >
          {shown ? "Hide" : "Show"}
        </button>
      </div>
      {hint !== undefined && (
        <p class="small muted" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

const NameField = ({ value, onInput }: { readonly value: string; readonly onInput: (value: string) => void }) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>Name</label>
      <input
        class="input"
        id={id}
        type="text"
        name="username"
        autocomplete="username"
        autocapitalize="off"
        spellcheck={false}
        required
        maxLength={100}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  )
}

export const SignInForm = ({ onSignedIn }: { readonly onSignedIn: (name: string) => void }) => {
  const [name, setName] = useState("")
  const [password, setPassword] = useState("")
  const action = useAction(signInWords)
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(
          () => client.signIn(name.trim(), password),
          ({ name }) => onSignedIn(name),
        )
      }}
    >
      <NameField value={name} onInput={setName} />
      <PasswordField label="Password" autocomplete="current-password" value={password} onInput={setPassword} />
      <Problem words={action.problem} />
      <button type="submit" class="button primary" aria-disabled={action.busy}>
        {action.busy ? "Signing in …" : "Sign in"}
      </button>
    </form>
  )
}

export const SignIn = ({ onSignedIn }: { readonly onSignedIn: (name: string) => void }) => (
  <Card title="Sign in">
    <SignInForm onSignedIn={onSignedIn} />
    <details class="help">
      <summary>No account yet, or the password is lost?</summary>
      <p>
        The service prints a link at its first start. For a new one, whoever runs it starts it with{" "}
        <code>--sign-in-link</code>. The link makes an account, or gives one a new password.
      </p>
    </details>
  </Card>
)

export const SetUp = ({
  code,
  onSignedIn,
  onLeave,
}: {
  readonly code: string
  readonly onSignedIn: (name: string) => void
  readonly onLeave: () => void
}) => {
  const [name, setName] = useState("")
  const [password, setPassword] = useState("")
  const action = useAction(signInWords)
  return (
    <Card title="Set up your account">
      <p>Choose the name and the password with which you will sign in to this service’s dashboard.</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void action.run(
            () => client.setUp(code, name.trim(), password),
            ({ name }) => onSignedIn(name),
          )
        }}
      >
        <NameField value={name} onInput={setName} />
        <PasswordField
          label="Password"
          autocomplete="new-password"
          hint={`At least ${minPassword} characters. Several words make a good one.`}
          value={password}
          onInput={setPassword}
        />
        <Problem words={action.problem} />
        <button type="submit" class="button primary" aria-disabled={action.busy}>
          {action.busy ? "Setting up …" : "Set up and sign in"}
        </button>
      </form>
      <p class="small muted">
        The link can be used once.{" "}
        <button type="button" class="link" onClick={onLeave}>
          Sign in with an account that is there already
        </button>
      </p>
    </Card>
  )
}
