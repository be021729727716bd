/** The tokens of the organization. A token is shown until it is dismissed or the page is left. */
import { useContext, useState } from "preact/hooks"
import type { NewToken, TokenSummary } from "../../pageApi/TokensApi.ts"
import { ask } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { Secret } from "./Copy.tsx"
import { plural } from "./format.ts"
import { Form, NameField } from "./forms.tsx"
import { KeepHours } from "./KeepHours.tsx"
import { Now, useResource } from "./hooks.ts"
import { List } from "./List.tsx"
import { Badge, Section, Time } from "./parts.tsx"
import { Table, type TableProps } from "./Table.tsx"
import type { Label } from "./wording.ts"

const isUsable = (token: TokenSummary, now: number) =>
  token.revoked_at === null && (token.expires_at === null || token.expires_at > now)

export const Tokens = () => {
  const resource = useResource("tokens", () => ask("GET /tokens"), 15_000)
  const [newToken, setNewToken] = useState<NewToken>()
  const now = useContext(Now)
  const show = (token: NewToken) => {
    setNewToken(token)
    void resource.reload()
  }
  return (
    <Section id="tokens" title="Organization tokens">
      <p class="muted">
        Clients send a token with each request, as <code>Authorization: Bearer …</code>. Give each client its own token,
        so that you can revoke one without affecting the others.
      </p>
      {newToken !== undefined && (
        <Secret
          title={`Token “${newToken.summary.name}”`}
          label="New token"
          what="token"
          value={newToken.token}
          onDone={() => setNewToken(undefined)}
          focusAfter="tokens-name"
        >
          <p>Copy the token now: the service stores only its hash, and can’t show it again.</p>
        </Secret>
      )}
      <Form
        class="row line-form"
        label="Create a token"
        submit="Create token"
        ask={(values) => ask("POST /tokens", { payload: { name: values.text("name") } })}
        onDone={show}
      >
        <NameField
          id="tokens-name"
          name="name"
          label="Name of the token"
          placeholder="Nightly pipeline"
          title="Who or what the token is for"
        />
      </Form>
      <List
        resource={resource}
        above={({ hasStartupToken }) =>
          hasStartupToken && (
            <p class="notice">
              <span>
                The service also accepts the token in <code>PREFSTREAM_TOKEN</code>, with which the service was started.
                You can’t see or revoke that token here.
              </span>
            </p>
          )
        }
        label="Organization tokens"
        rows={({ tokens }) => tokens.filter((token) => isUsable(token, now))}
        nothing={
          resource.data?.hasStartupToken === true
            ? "No other token is accepted at present."
            : "No token is accepted at present. Create one for your first client."
        }
        keyOf={({ token_id }) => token_id}
        columns={[...columns, { label: "", cell: (token) => <Actions token={token} onMade={show} /> }]}
        below={({ tokens }) => <Unusable tokens={tokens.filter((token) => !isUsable(token, now))} />}
      />
    </Section>
  )
}

const Unusable = ({ tokens }: { readonly tokens: ReadonlyArray<TokenSummary> }) =>
  tokens.length === 0 ? null : (
    <details>
      <summary class="muted">
        {plural(tokens.length, "token that is no longer accepted", "tokens that are no longer accepted")}
      </summary>
      <Table label="Tokens no longer accepted" rows={tokens} keyOf={({ token_id }) => token_id} columns={columns} />
    </details>
  )

const columns: TableProps<TokenSummary>["columns"] = [
  { label: "Name", class: "anywhere", cell: ({ name }) => <bdi>{name}</bdi> },
  { label: "Token", cell: ({ hint }) => <code>{hint}…</code> },
  { label: "State", cell: (token) => <State token={token} /> },
  { label: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  { label: "Last used", nothing: "never", cell: ({ last_used_at }) => last_used_at && <Time at={last_used_at} /> },
]

interface ActionsProps {
  readonly token: TokenSummary
  readonly onMade: (token: NewToken) => void
}

const Actions = ({ token, onMade }: ActionsProps) => {
  const params = { token_id: token.token_id }
  const name = (
    <>
      “<bdi>{token.name}</bdi>” (<code>{token.hint}…</code>)
    </>
  )
  return (
    <>
      {token.expires_at === null && (
        <ConfirmButton
          text="Rotate"
          label={`Rotate ${token.name}`}
          title="Rotate this token?"
          confirm="Rotate token"
          ask={({ number }) =>
            ask("POST /tokens/:token_id/rotate", { params, payload: { keep_hours: number("keep_hours") } })
          }
          onDone={onMade}
        >
          <p>A new token replaces {name}. Give the new token to the clients.</p>
          <KeepHours legend="The old token is accepted for" />
        </ConfirmButton>
      )}
      <ConfirmButton
        look="danger compact"
        text="Revoke"
        label={`Revoke ${token.name}`}
        title="Revoke this token?"
        confirm="Revoke token"
        keep="Keep token"
        danger
        ask={() => ask("POST /tokens/:token_id/revoke", { params })}
        success="The token is revoked."
      >
        <p>{name} stops working immediately, for each client that uses it. This can’t be undone.</p>
      </ConfirmButton>
    </>
  )
}

const State = ({ token: { expires_at, revoked_at } }: { readonly token: TokenSummary }) => {
  const now = useContext(Now)
  const ends = revoked_at ?? expires_at
  const label: Label =
    revoked_at !== null
      ? { words: "Revoked", tone: "bad" }
      : expires_at === null
        ? { words: "Active", tone: "good" }
        : expires_at > now
          ? { words: "Ends", tone: "warn" }
          : { words: "Ended", tone: "neutral" }
  return (
    <span class="badges nowrap">
      <Badge label={label} /> {ends !== null && <Time at={ends} />}
    </span>
  )
}
