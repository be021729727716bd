/**
 * Shows and changes the webhook: its URL and its signing secrets.
 *
 * Guarantees: a secret is shown only from its creation until it is dismissed or the page is left.
 */
/* oxlint-disable max-lines -- one form with its states and dialogs */
import { useContext, useEffect, useState } from "preact/hooks"
import { maxLength } from "../../pageApi/PageConstants.ts"
import type { WebhookSettings } from "../../pageApi/WebhookApi.ts"
import { ask } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { count } from "./format.ts"
import { Say, useAction, useResource } from "./hooks.ts"
import { Field, Form, KeepHours } from "./forms.tsx"
import { Secret } from "./Copy.tsx"
import { ActionButton, Badge, Loaded, Problem, Section, Time } from "./parts.tsx"
import { href } from "./routes.ts"
import { attemptsWords, deliveryLabel, failureWords } from "./wording.ts"

export const Webhook = ({ onSent }: { readonly onSent: () => void }) => {
  const resource = useResource("webhook", () => ask("GET /webhook"), 15_000)
  const [secret, setSecret] = useState<string>()
  const [tested, setTested] = useState<string>()
  const say = useContext(Say)
  const reload = () => void resource.reload()
  return (
    <Section id="webhook" title="Webhook">
      <p class="muted">
        When all tasks of a group are complete, the service sends a signed <code>POST</code> to one URL, by{" "}
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
          onDone={() => {
            setSecret(undefined)
            document.getElementById("webhook-url")?.focus()
          }}
        >
          <p>
            Copy it now: it can’t be shown again. The receiver checks signatures with it; for a pipeline it is{" "}
            <code>PREFSTREAM_WEBHOOK_SECRET</code>.
          </p>
        </Secret>
      )}
      <Loaded resource={resource}>
        {(settings) => (
          <div class="card padded stack">
            <State settings={settings} onSet={reload} />
            <UrlForm
              key={settings.url ?? ""}
              saved={settings.url ?? ""}
              onDone={(made) => {
                say("The webhook’s URL is saved.")
                if (made.secret !== null) setSecret(made.secret)
                reload()
              }}
            />
            {settings.url !== null && (
              <>
                <Secrets settings={settings} />
                <Actions
                  onRotated={(secret) => {
                    setSecret(secret)
                    reload()
                  }}
                  onRemoved={() => {
                    setSecret(undefined)
                    setTested(undefined)
                    reload()
                  }}
                  onTested={(messageId) => {
                    setTested(messageId)
                    onSent()
                  }}
                />
                {tested !== undefined && (
                  <Test
                    key={tested}
                    messageId={tested}
                    onAttempted={() => {
                      reload()
                      onSent()
                    }}
                  />
                )}
              </>
            )}
          </div>
        )}
      </Loaded>
    </Section>
  )
}

const UrlForm = ({
  saved,
  onDone,
}: {
  readonly saved: string
  readonly onDone: (made: { readonly secret: string | null }) => void
}) => {
  const [url, setUrl] = useState(saved)
  return (
    <Form
      class="line-form"
      label="Set the webhook"
      submit="Save URL"
      buttonClass={saved === "" ? "primary" : ""}
      isUnchanged={saved !== "" && url.trim() === saved}
      ask={(values) => ask("PUT /webhook", { payload: { url: values.text("url") } })}
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

const State = ({ settings, onSet }: { readonly settings: WebhookSettings; readonly onSet: () => void }) => {
  const { failing, url } = settings
  if (url === null) return <p>No URL is set: completed groups are not announced.</p>
  if (settings.enabled && failing !== null) return <Failing failing={failing} settings={settings} />
  if (settings.enabled) {
    return (
      <p class="badges">
        <Badge label={{ words: "Enabled", tone: "good" }} /> <span>Completed groups are announced to this URL.</span>
      </p>
    )
  }
  return (
    <div class="notice bad">
      <p class="grow">
        <strong>Disabled by the service.</strong> {settings.disabled_reason ?? "The receiver refuses deliveries."}{" "}
        Nothing is sent until it is enabled again.
      </p>
      <ActionButton ask={() => ask("PUT /webhook", { payload: { url } })} said="The webhook is enabled." onDone={onSet}>
        Enable again
      </ActionButton>
    </div>
  )
}

/** Says since when deliveries fail, and when the next attempt is. */
const Failing = ({
  failing,
  settings: { next_attempt_at, waiting },
}: {
  readonly failing: NonNullable<WebhookSettings["failing"]>
  readonly settings: WebhookSettings
}) => (
  <div class="notice bad">
    <p class="grow">
      <strong>
        Failing since <Time at={failing.since} />.
      </strong>{" "}
      {failing.attempts === 1 ? (
        "An attempt has failed"
      ) : (
        <>
          {count(failing.attempts)} attempts in a row have failed, the last <Time at={failing.last_at} />
        </>
      )}
      : {failureWords(failing)}.{" "}
      {next_attempt_at === null ? (
        "No delivery waits: the next one is tried when a group completes."
      ) : (
        <>
          {waiting === 1 ? "One delivery waits" : `${count(waiting)} deliveries wait`}, next attempt{" "}
          <Time at={next_attempt_at} />. Each is tried ten times over three days, then it has failed and can be resent
          below. A test event tries the URL immediately.
        </>
      )}
    </p>
  </div>
)

const Secrets = ({ settings }: { readonly settings: WebhookSettings }) => (
  <div>
    <h3>Secrets that sign at present</h3>
    <ul class="plain-list">
      {settings.secrets.map((secret) => (
        <li key={secret.created_at} class="badges">
          {secret.expires_at === null ? (
            <Badge label={{ words: "Current", tone: "good" }} />
          ) : (
            <Badge label={{ words: "Being replaced", tone: "warn" }} />
          )}
          <span>
            made <Time at={secret.created_at} />
            {secret.expires_at !== null && (
              <>
                , ends <Time at={secret.expires_at} />
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  </div>
)

const Actions = ({
  onRotated,
  onRemoved,
  onTested,
}: {
  readonly onRotated: (secret: string) => void
  readonly onRemoved: () => void
  readonly onTested: (messageId: string) => void
}) => {
  const test = useAction()
  return (
    <>
      <div class="row">
        <button
          type="button"
          class="button"
          aria-disabled={test.busy}
          onClick={() =>
            void test.run(
              () => ask("POST /webhook/test"),
              ({ message_id }) => onTested(message_id),
            )
          }
        >
          Send test event
        </button>
        <ConfirmButton
          class=""
          button="Rotate secret"
          title="Rotate the secret?"
          confirm="Rotate secret"
          ask={(values) => ask("POST /webhook/rotate-secret", { payload: { keep_hours: values.number("keep_hours") } })}
          onDone={({ secret }) => onRotated(secret)}
        >
          <p>
            A new secret signs from now on. While the old one signs along, receivers with either can check deliveries.
          </p>
          <KeepHours legend="The old secret signs along for" />
        </ConfirmButton>
        <ConfirmButton
          class="danger"
          button="Remove webhook"
          title="Remove the webhook?"
          confirm="Remove webhook"
          keep="Keep webhook"
          danger
          ask={() => ask("DELETE /webhook")}
          said="The webhook is removed."
          onDone={onRemoved}
        >
          <p>
            The URL and its secrets are forgotten, and groups that complete from now on are not announced. Setting a URL
            again makes a new secret.
          </p>
        </ConfirmButton>
      </div>
      <Problem words={test.problem} />
    </>
  )
}

/** Shows the outcome of a test event. */
const Test = ({ messageId, onAttempted }: { readonly messageId: string; readonly onAttempted: () => void }) => {
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
    if (attempted) onAttempted()
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
