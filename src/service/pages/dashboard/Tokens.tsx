/**
 * Organization tokens: create, rotate, revoke.
 *
 * Guarantees: a token is shown only from its creation until it is dismissed or the page is left.
 */
import type { ComponentChildren } from "preact"
import { useContext, useState } from "preact/hooks"
import type { NewToken, TokenSummary } from "../../pageApi/DashboardApi.ts"
import * as client from "./client.ts"
import { Confirm } from "./Confirm.tsx"
import { plural } from "./format.ts"
import { Now, Say, useResource } from "./hooks.ts"
import { defaultKeepHours, KeepHours } from "./KeepHours.tsx"
import { NameForm } from "./FieldForm.tsx"
import { Secret } from "./Copy.tsx"
import { Badge, Loaded, Section, Time } from "./parts.tsx"
import { Table } from "./Table.tsx"
import type { Label } from "./wording.ts"

const isUsable = (token: TokenSummary, now: number) =>
  token.revoked_at === null && (token.expires_at === null || token.expires_at > now)

export const Tokens = () => {
  const resource = useResource("tokens", client.tokens, 15_000)
  const [made, setMade] = useState<NewToken>()
  const [rotating, setRotating] = useState<TokenSummary>()
  const [revoking, setRevoking] = useState<TokenSummary>()
  const now = useContext(Now)
  const say = useContext(Say)
  const show = (token: NewToken) => {
    setMade(token)
    void resource.reload()
  }
  return (
    <Section id="tokens" title="Organization tokens">
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
        ask={client.createToken}
        onDone={show}
      />
      <Loaded resource={resource}>
        {({ given, tokens }) => {
          const usable = tokens.filter((token) => isUsable(token, now))
          const gone = tokens.filter((token) => !isUsable(token, now))
          return (
            <>
              {given && (
                <p class="notice">
                  <span>
                    The token that the service was started with (<code>PREFSTREAM_TOKEN</code>) is accepted, too. It is
                    not listed here, and can’t be revoked here.
                  </span>
                </p>
              )}
              {usable.length === 0 ? (
                <p class="card nothing">
                  {given
                    ? "No other token is accepted at present."
                    : "No token is accepted at present. Create one for your first client."}
                </p>
              ) : (
                <TokenTable
                  label="Organization tokens"
                  tokens={usable}
                  actions={(token) => (
                    <>
                      {token.expires_at === null && (
                        <button
                          type="button"
                          class="button compact"
                          aria-label={`Rotate ${token.name}`}
                          onClick={() => setRotating(token)}
                        >
                          Rotate
                        </button>
                      )}
                      <button
                        type="button"
                        class="button danger compact"
                        aria-label={`Revoke ${token.name}`}
                        onClick={() => setRevoking(token)}
                      >
                        Revoke
                      </button>
                    </>
                  )}
                />
              )}
              {gone.length > 0 && (
                <details>
                  <summary class="muted">
                    {plural(gone.length, "token that is no longer accepted", "tokens that are no longer accepted")}
                  </summary>
                  <TokenTable label="Tokens no longer accepted" tokens={gone} />
                </details>
              )}
            </>
          )
        }}
      </Loaded>
      {rotating !== undefined && <Rotate token={rotating} onClose={() => setRotating(undefined)} onDone={show} />}
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
            “<bdi>{revoking.name}</bdi>” (<code>{revoking.hint}…</code>) stops working immediately, for each client that
            uses it. This can’t be undone.
          </p>
        </Confirm>
      )}
    </Section>
  )
}

const TokenTable = ({
  label,
  tokens,
  actions,
}: {
  readonly label: string
  readonly tokens: ReadonlyArray<TokenSummary>
  readonly actions?: (token: TokenSummary) => ComponentChildren
}) => (
  <Table
    label={label}
    rows={tokens}
    keyOf={({ token_id }) => token_id}
    columns={[
      { label: "Name", class: "anywhere", cell: ({ name }) => <bdi>{name}</bdi> },
      { label: "Token", cell: ({ hint }) => <code>{hint}…</code> },
      { label: "State", cell: (token) => <State token={token} /> },
      { label: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
      {
        label: "Last used",
        nothing: "never",
        cell: ({ last_used_at }) => last_used_at && <Time at={last_used_at} />,
      },
      ...(actions === undefined ? [] : [{ label: "", cell: actions }]),
    ]}
  />
)

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

const Rotate = ({
  token,
  onClose,
  onDone,
}: {
  readonly token: TokenSummary
  readonly onClose: () => void
  readonly onDone: (token: NewToken) => void
}) => {
  const [hours, setHours] = useState(defaultKeepHours)
  return (
    <Confirm
      title="Rotate this token?"
      confirm="Rotate token"
      ask={() => client.rotateToken(token.token_id, hours)}
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        A new token takes the place of “<bdi>{token.name}</bdi>” (<code>{token.hint}…</code>). Clients have to be given
        it.
      </p>
      <KeepHours legend="The old token is accepted for" hours={hours} onChange={setHours} />
    </Confirm>
  )
}
