/**
 * Signs in with name and password, or with the link that the service prints, which sets them.
 *
 * Guarantees: works with password managers. The code of a link stays in the address until it is used, so that a reload
 * loses nothing.
 */
import type { ComponentChildren } from "preact"
import { useEffect, useId, useState } from "preact/hooks"
import type { Account } from "../../pageApi/OperatorsApi.ts"
import { maxLength, minPasswordLength } from "../../pageApi/PageConstants.ts"
import type { Answer } from "../shared/api.ts"
import { askSignedOut } from "./client.ts"
import { useAction } from "./hooks.ts"
import { Problem } from "./parts.tsx"
import { signInWords } from "./wording.ts"

/** A page with a single card, for visitors who are not signed in. */
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

export const PasswordField = ({
  label = "Password",
  isNew,
  value,
  onInput,
}: {
  readonly label?: string
  readonly isNew: boolean
  readonly value: string
  readonly onInput: (value: string) => void
}) => {
  const id = useId()
  const [shown, setShown] = useState(false)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="password">
        <input
          class="input"
          id={id}
          {...(shown ? ({ type: "text" } as const) : ({ type: "password" } as const))}
          name={isNew ? "new-password" : "password"}
          autocomplete={isNew ? "new-password" : "current-password"}
          required
          minLength={isNew ? minPasswordLength : undefined}
          maxLength={maxLength.password}
          value={value}
          aria-describedby={isNew ? `${id}-hint` : undefined}
          spellcheck={false}
          autocapitalize="off"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
        <button
          type="button"
          class="button"
          aria-pressed={shown}
          aria-label={`Show ${label.toLowerCase()}`}
          onClick={() => setShown(!shown)}
        >
          {shown ? "Hide" : "Show"}
        </button>
      </div>
      {isNew && (
        <p class="small muted" id={`${id}-hint`}>
          At least {minPasswordLength} characters. Several words make a good one.
        </p>
      )}
    </div>
  )
}

const CredentialsForm = ({
  isNew = false,
  account,
  submit,
  submitting,
  ask,
  onSignedIn,
}: {
  /** Whether the password is a new one. */
  readonly isNew?: boolean
  /** The account's name, if it can't be chosen. */
  readonly account?: string | undefined
  readonly submit: string
  readonly submitting: string
  readonly ask: (name: string, password: string) => Promise<Answer<Account>>
  readonly onSignedIn: (account: Account) => void
}) => {
  const id = useId()
  const [name, setName] = useState(account ?? "")
  const [password, setPassword] = useState("")
  const action = useAction(signInWords)
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(() => ask(name.trim(), password), onSignedIn)
      }}
    >
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
          maxLength={maxLength.name}
          readOnly={account !== undefined}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </div>
      <PasswordField isNew={isNew} value={password} onInput={setPassword} />
      <Problem words={action.problem} />
      <button type="submit" class="button primary" aria-disabled={action.busy}>
        {action.busy ? submitting : submit}
      </button>
    </form>
  )
}

export const SignInForm = ({ onSignedIn }: { readonly onSignedIn: (account: Account) => void }) => (
  <CredentialsForm
    submit="Sign in"
    submitting="Signing in …"
    ask={(name, password) => askSignedOut("POST /sign-in", { payload: { name, password } })}
    onSignedIn={onSignedIn}
  />
)

export const SignIn = ({ onSignedIn }: { readonly onSignedIn: (account: Account) => void }) => (
  <Entrance title="Sign in">
    <SignInForm onSignedIn={onSignedIn} />
    <details class="small muted">
      <summary>No account yet, or the password is lost?</summary>
      <p>
        An admin makes a link for you, under Operators. The service prints one, too, at its first start, and whenever it
        is started with <code>--sign-in-link</code>. The link makes an account, or gives one a new password.
      </p>
    </details>
  </Entrance>
)

/** Asks the service whose link it is; `problem` says why the link does not work. */
const useLink = (code: string) => {
  const [link, setLink] = useState<{ readonly name?: string | undefined; readonly problem?: string }>()
  useEffect(() => {
    let over = false
    const look = async () => {
      const answer = await askSignedOut("POST /link", { payload: { code } })
      if (over) return
      setLink(answer.ok ? { name: answer.value.name ?? undefined } : { problem: answer.problem.detail })
    }
    void look()
    return () => {
      over = true
    }
  }, [code])
  return link
}

export const SetUp = ({
  code,
  onSignedIn,
  onLeave,
}: {
  readonly code: string
  readonly onSignedIn: (account: Account) => void
  readonly onLeave: () => void
}) => {
  const link = useLink(code)
  if (link === undefined) return <p class="muted late first">Loading …</p>
  const leave = (
    <button type="button" class="link" onClick={onLeave}>
      Sign in with an existing account
    </button>
  )
  if (link.problem !== undefined) {
    return (
      <Entrance title="The link does not work">
        <Problem words={link.problem} />
        <p>{leave}</p>
      </Entrance>
    )
  }
  return (
    <Entrance title="Set up your account">
      <p>
        {link.name === undefined
          ? "Choose the name and the password with which you will sign in to this service’s dashboard."
          : "Choose the password with which you will sign in to this service’s dashboard."}
      </p>
      <CredentialsForm
        isNew
        account={link.name}
        submit="Set up and sign in"
        submitting="Setting up …"
        ask={(name, password) => askSignedOut("POST /set-up", { payload: { code, name, password } })}
        onSignedIn={onSignedIn}
      />
      <p class="small muted">The link can be used once. {leave}</p>
    </Entrance>
  )
}
