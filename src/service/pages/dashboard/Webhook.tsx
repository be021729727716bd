/** The webhook's URL and signing secrets. A secret is shown until it is dismissed or the page is left. */
import { useContext, useEffect, useState } from "preact/hooks"
import { maxLength } from "../../pageApi/PageConstants.ts"
import type { WebhookSettings } from "../../pageApi/WebhookApi.ts"
import { ask } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { count } from "./format.ts"
import { Reload, useResource } from "./hooks.ts"
import { Field, Form } from "./forms.tsx"
import { KeepHours } from "./KeepHours.tsx"
import { Secret } from "./Copy.tsx"
import { ActionButton, Badge, Loaded, Section, Time } from "./parts.tsx"
import { href } from "./routes.ts"
import { attemptsWords, deliveryLabel, failureWords } from "./wording.ts"

export const Webhook = ({ onSent }: { readonly onSent: () => void }) => {
  const resource = useResource("webhook", () => ask("GET /webhook"), 15_000)
  const [secret, setSecret] = useState<string>()
  const [testId, setTestId] = useState<string>()
  return (
    <Section id="webhook" title="Webhook">
      <p class="muted">
        When all tasks of a group are complete, the service sends a signed <code>POST</code> to one URL, following{" "}
        <a href="https://www.standardwebhooks.com/" rel="noreferrer" target="_blank">
          Standard Webhooks
        </a>
        .
      </p>
      {secret !== undefined && (
        <Secret
          title="The webhook’s secret"
          label="Webhook secret"
          what="secret"
          value={secret}
          onDone={() => setSecret(undefined)}
          focusAfter="webhook-url"
        >
          <p>
            Copy the secret now: it can’t be shown again. The receiver checks signatures with it. A pipeline reads it
            from <code>PREFSTREAM_WEBHOOK_SECRET</code>.
          </p>
        </Secret>
      )}
      <Loaded resource={resource}>
        {(settings) => (
          <div class="card padded stack">
            <State settings={settings} />
            <UrlForm
              key={settings.url ?? ""}
              saved={settings.url ?? ""}
              onDone={(saved) => saved.secret !== null && setSecret(saved.secret)}
            />
            {settings.url !== null && (
              <>
                <Secrets settings={settings} />
                <Actions
                  onRotated={setSecret}
                  onRemoved={() => {
                    setSecret(undefined)
                    setTestId(undefined)
                  }}
                  onTested={(messageId) => {
                    setTestId(messageId)
                    onSent()
                  }}
                />
                {testId !== undefined && <Test key={testId} messageId={testId} onAttempted={onSent} />}
              </>
            )}
          </div>
        )}
      </Loaded>
    </Section>
  )
}

interface UrlFormProps {
  readonly saved: string
  readonly onDone: (saved: { readonly secret: string | null }) => void
}

const UrlForm = ({ saved, onDone }: UrlFormProps) => {
  const [url, setUrl] = useState(saved)
  return (
    <Form
      class="row line-form"
      label="Set the webhook"
      submit="Save URL"
      look={saved === "" ? "primary" : ""}
      isUnchanged={saved !== "" && url.trim() === saved}
      ask={(values) => ask("PUT /webhook", { payload: { url: values.text("url") } })}
      success="The webhook’s URL is saved."
      onDone={onDone}
    >
      <Field
        id="webhook-url"
        name="url"
        label="Webhook URL"
        type="url"
        required
        placeholder="https://pipeline.example/webhooks/prefstream"
        maxLength={maxLength.url}
        spellcheck={false}
        value={saved}
        onInput={(event) => setUrl(event.currentTarget.value)}
      />
    </Form>
  )
}

const State = ({ settings }: { readonly settings: WebhookSettings }) => {
  const { disabled_reason, enabled, failing, url } = settings
  if (url === null) return <p>No URL is set: completed groups are not announced.</p>
  if (enabled && failing !== null) return <Failing failing={failing} settings={settings} />
  if (enabled) {
    return (
      <p class="badges">
        <Badge label={{ words: "Enabled", tone: "good" }} /> <span>Completed groups are announced to this URL.</span>
      </p>
    )
  }
  return (
    <div class="notice bad">
      <p class="grow">
        <strong>Disabled by the service.</strong> {disabled_reason ?? "The receiver refuses deliveries."} Nothing is
        sent until it is enabled again.
      </p>
      <ActionButton
        text="Enable again"
        ask={() => ask("PUT /webhook", { payload: { url } })}
        success="The webhook is enabled."
      />
    </div>
  )
}

interface FailingProps {
  readonly failing: NonNullable<WebhookSettings["failing"]>
  readonly settings: WebhookSettings
}

const Failing = ({ failing, settings: { next_attempt_at, waiting } }: FailingProps) => (
  <div class="notice bad">
    <p class="grow">
      <strong>
        Failing since <Time at={failing.since} />.
      </strong>{" "}
      {failing.attempts === 1 ? (
        "An attempt has failed"
      ) : (
        <>
          {count(failing.attempts)} consecutive attempts have failed, most recently <Time at={failing.last_at} />
        </>
      )}
      : {failureWords(failing)}.{" "}
      {next_attempt_at === null ? (
        "No delivery is waiting. The next webhook is sent when a group completes."
      ) : (
        <>
          {waiting === 1 ? "One delivery is waiting" : `${count(waiting)} deliveries are waiting`}; next attempt{" "}
          <Time at={next_attempt_at} />. Each delivery is attempted ten times over three days. After that, you can
          resend it below. To try the URL immediately, send a test event.
        </>
      )}
    </p>
  </div>
)

const Secrets = ({ settings }: { readonly settings: WebhookSettings }) => (
  <div>
    <h3>Signing secrets in use</h3>
    <ul class="plain-list">
      {settings.secrets.map(({ created_at, expires_at }) => (
        <li key={created_at} class="badges">
          <Badge
            label={expires_at === null ? { words: "Current", tone: "good" } : { words: "Being replaced", tone: "warn" }}
          />
          <span>
            made <Time at={created_at} />
            {expires_at !== null && ", ends "}
            {expires_at !== null && <Time at={expires_at} />}
          </span>
        </li>
      ))}
    </ul>
  </div>
)

interface ActionsProps {
  readonly onRotated: (secret: string) => void
  readonly onRemoved: () => void
  readonly onTested: (messageId: string) => void
}

const Actions = ({ onRotated, onRemoved, onTested }: ActionsProps) => (
  <div class="row">
    <ActionButton
      text="Send test event"
      ask={() => ask("POST /webhook/test")}
      onDone={({ message_id }) => onTested(message_id)}
    />
    <ConfirmButton
      look=""
      text="Rotate secret"
      title="Rotate the secret?"
      confirm="Rotate secret"
      ask={(values) => ask("POST /webhook/rotate-secret", { payload: { keep_hours: values.number("keep_hours") } })}
      onDone={({ secret }) => onRotated(secret)}
    >
      <p>
        The service will sign all deliveries with a new secret. For the time below, it will also sign them with the old
        secret. During this time, receivers can use either secret to check signatures.
      </p>
      <KeepHours legend="How long to also sign with the old secret" />
    </ConfirmButton>
    <ConfirmButton
      look="danger"
      text="Remove webhook"
      title="Remove the webhook?"
      confirm="Remove webhook"
      keep="Keep webhook"
      danger
      ask={() => ask("DELETE /webhook")}
      success="The webhook is removed."
      onDone={onRemoved}
    >
      <p>
        The URL and its secrets are deleted, and groups that complete from now on are not announced. If you set a URL
        again, it gets a new secret.
      </p>
    </ConfirmButton>
  </div>
)

const Test = ({ messageId, onAttempted }: { readonly messageId: string; readonly onAttempted: () => void }) => {
  const reload = useContext(Reload)
  const [over, setOver] = useState(false)
  const resource = useResource(
    messageId,
    () => ask("GET /deliveries/:message_id", { params: { message_id: messageId } }),
    over ? undefined : 1000,
  )
  const delivery = resource.data?.delivery
  const last = resource.data?.attempts.at(-1)
  const attempted = delivery !== undefined && delivery.attempts > 0
  useEffect(() => {
    setOver(attempted)
    if (!attempted) return
    onAttempted()
    reload()
  }, [attempted])
  return (
    <p class={`notice ${delivery?.state === "delivered" ? "good" : attempted ? "bad" : ""}`} role="status">
      <span class="grow">
        {delivery === undefined || !attempted ? (
          "The test event is on its way …"
        ) : (
          <>
            Test event: <Badge label={deliveryLabel[delivery.state]} /> {attemptsWords(delivery)}
            {last?.error != null && `, ${last.error}`}
          </>
        )}
      </span>
      <a href={href("delivery", { id: messageId })}>Details of the test</a>
    </p>
  )
}
