/**
 * Organization tokens: made, rotated, revoked.
 *
 * Guarantees: a token is on the page from its making until it is dismissed or the page is left,
 * and nowhere else.
 */
import { useContext, useState } from "preact/hooks"
import type { TokenSummary } from "../../pageApi/DashboardApi.ts"
import * as client from "./client.ts"
import { Confirm } from "./Confirm.tsx"
import { plural } from "./format.ts"
import { Now, Say, useResource } from "./hooks.ts"
import { defaultKeepHours, KeepHours } from "./KeepHours.tsx"
import { NameForm } from "./NameForm.tsx"
import { Badge, Loaded, Secret, Time } from "./parts.tsx"

const isUsable = (token: TokenSummary, now: number) =>
  token.revoked_at === null && (token.expires_at === null || token.expires_at > now)

export const Tokens = () => {
  const resource = useResource("tokens", client.tokens, 15_000)
  const [made, setMade] = useState<client.NewToken>()
  const [rotating, setRotating] = useState<TokenSummary>()
  const [revoking, setRevoking] = useState<TokenSummary>()
  const now = useContext(Now)
  const say = useContext(Say)
  const show = (token: client.NewToken) => {
    setMade(token)
    void resource.reload()
  }
  return (
    <section class="section" aria-labelledby="tokens">
      <h2 id="tokens" tabIndex={-1}>
        Organization tokens
      </h2>
      <p class="muted">
        Each request of a client carries one, as <code>Authorization: Bearer …</code>. Give each client its own, so that
        one can be revoked without the others.
      </p>
      {made !== undefined && (
        <Secret
          title={`Token “${made.summary.name}”`}
          label="New token"
          what="token"
          value={made.token}
          onDone={() => {
            setMade(undefined)
            document.getElementById("tokens-name")?.focus()
          }}
        >
          <p>Copy it now: it is stored hashed, and can’t be shown again.</p>
        </Secret>
      )}
      <NameForm
        id="tokens-name"
        form="Create a token"
        label="Name of the token"
        placeholder="Nightly pipeline"
        hint="Who or what it is for"
        submit="Create token"
        make={client.createToken}
        onMade={show}
      />
      <Loaded resource={resource}>
        {({ tokens }) => {
          const usable = tokens.filter((token) => isUsable(token, now))
          const gone = tokens.filter((token) => !isUsable(token, now))
          return (
            <>
              {usable.length === 0 ? (
                <p class="card nothing">No token is accepted at present. Create one for your first client.</p>
              ) : (
                <TokenTable label="Organization tokens" tokens={usable} onRotate={setRotating} onRevoke={setRevoking} />
              )}
              {gone.length > 0 && (
                <details class="gone">
                  <summary>
                    {plural(gone.length, "token that is no longer accepted", "tokens that are no longer accepted")}
                  </summary>
                  <TokenTable label="Tokens no longer accepted" tokens={gone} />
                </details>
              )}
            </>
          )
        }}
      </Loaded>
      {rotating !== undefined && <Rotate token={rotating} onClose={() => setRotating(undefined)} onMade={show} />}
      {revoking !== undefined && (
        <Confirm
          title="Revoke this token?"
          confirm="Revoke token"
          keep="Keep token"
          danger
          ask={() => client.revokeToken(revoking.token_id)}
          onClose={() => setRevoking(undefined)}
          onDone={() => {
            say("The token is revoked.")
            void resource.reload()
          }}
        >
          <p>
            “<bdi>{revoking.name}</bdi>” (<code>{revoking.hint}…</code>) stops working at once, for each client that
            uses it. This can’t be undone.
          </p>
        </Confirm>
      )}
    </section>
  )
}

const TokenTable = ({
  label,
  tokens,
  onRotate,
  onRevoke,
}: {
  readonly label: string
  readonly tokens: ReadonlyArray<TokenSummary>
  readonly onRotate?: (token: TokenSummary) => void
  readonly onRevoke?: (token: TokenSummary) => void
}) => (
  <div class="card table-card">
    <table class="cards" role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader">Name</th>
          <th role="columnheader">Token</th>
          <th role="columnheader">State</th>
          <th role="columnheader">Created</th>
          <th role="columnheader">Last used</th>
          {onRotate && (
            <th role="columnheader">
              <span class="unseen">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {tokens.map((token) => (
          <tr role="row" key={token.token_id}>
            <th role="rowheader" scope="row" class="anywhere">
              <bdi>{token.name}</bdi>
            </th>
            <td role="cell" data-label="Token">
              <code>{token.hint}…</code>
            </td>
            <td role="cell" data-label="State">
              <State token={token} />
            </td>
            <td role="cell" data-label="Created">
              <Time at={token.created_at} />
            </td>
            <td role="cell" data-label="Last used">
              {token.last_used_at === null ? <span class="muted">never</span> : <Time at={token.last_used_at} />}
            </td>
            {onRotate && onRevoke && (
              <td role="cell" class="actions">
                {token.expires_at === null && (
                  <button
                    type="button"
                    class="button compact"
                    aria-label={`Rotate ${token.name}`}
                    onClick={() => onRotate(token)}
                  >
                    Rotate
                  </button>
                )}
                <button
                  type="button"
                  class="button danger compact"
                  aria-label={`Revoke ${token.name}`}
                  onClick={() => onRevoke(token)}
                >
                  Revoke
                </button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const State = ({ token }: { readonly token: TokenSummary }) => {
  const now = useContext(Now)
  if (token.revoked_at !== null) {
    return (
      <span class="badges nowrap">
        <Badge label={{ words: "Revoked", tone: "bad" }} /> <Time at={token.revoked_at} />
      </span>
    )
  }
  if (token.expires_at === null) return <Badge label={{ words: "Active", tone: "good" }} />
  return (
    <span class="badges nowrap">
      <Badge label={token.expires_at > now ? { words: "Ends", tone: "warn" } : { words: "Ended", tone: "neutral" }} />{" "}
      <Time at={token.expires_at} />
    </span>
  )
}

const Rotate = ({
  token,
  onClose,
  onMade,
}: {
  readonly token: TokenSummary
  readonly onClose: () => void
  readonly onMade: (token: client.NewToken) => void
}) => {
  const [hours, setHours] = useState(defaultKeepHours)
  return (
    <Confirm
      title="Rotate this token?"
      confirm="Rotate token"
      ask={() => client.rotateToken(token.token_id, hours)}
      onClose={onClose}
      onDone={onMade}
    >
      <p>
        A new token takes the place of “<bdi>{token.name}</bdi>” (<code>{token.hint}…</code>). Clients have to be given
        it.
      </p>
      <KeepHours legend="The old token is accepted for" hours={hours} onChange={setHours} />
    </Confirm>
  )
}
