/** Shows one delivery: its payload, and the outcome of each attempt. */
import type { Delivery, DeliveryDetail } from "../../pageApi/WebhookApi.ts"
import { ask } from "./client.ts"
import { Resend } from "./Deliveries.tsx"
import { count, millis } from "./format.ts"
import { useResource } from "./hooks.ts"
import { CopyButton } from "./Copy.tsx"
import { Badge, Loaded, LongText, PageHeading, Section, Summary, Time } from "./parts.tsx"
import { href } from "./routes.ts"
import { deliveryLabel } from "./wording.ts"

const readable = (payload: string): string => {
  // A payload that is not JSON is shown unchanged.
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}

export const DeliveryPage = ({ id: messageId }: { readonly id: string }) => {
  const resource = useResource(
    messageId,
    () => ask("GET /deliveries/:message_id", { params: { message_id: messageId } }),
    5000,
  )
  return (
    <>
      <PageHeading title={messageId} code under={["Developer settings", href("developer")]}>
        <CopyButton text={messageId} what="message id" />
      </PageHeading>
      <Loaded resource={resource}>
        {(detail) => (
          <>
            <DeliverySummary delivery={detail.delivery} />
            <Section id="attempts" title="Attempts">
              <Attempts detail={detail} />
            </Section>
            <Section id="payload" title="Payload" beside={<CopyButton text={detail.payload} what="payload" />}>
              <div class="card padded code">
                <LongText text={readable(detail.payload)} label="the payload" lines={30} chars={4000} />
              </div>
            </Section>
          </>
        )}
      </Loaded>
    </>
  )
}

const DeliverySummary = ({ delivery }: { readonly delivery: Delivery }) => (
  <Summary
    facts={[
      ["State", <Badge label={deliveryLabel[delivery.state]} />],
      ["Event", <span class="code anywhere">{delivery.type}</span>],
      delivery.tasks > 0 && ["Group", <bdi class="code anywhere">{delivery.group_id}</bdi>],
      delivery.tasks > 0 && ["Tasks", count(delivery.tasks)],
      ["Created", <Time at={delivery.created_at} />],
      [
        "Next attempt",
        delivery.next_attempt_at === null ? <span class="muted">none</span> : <Time at={delivery.next_attempt_at} />,
      ],
    ]}
    actions={<Resend delivery={delivery} />}
  />
)

const Attempts = ({ detail }: { readonly detail: DeliveryDetail }) =>
  detail.attempts.length === 0 ? (
    <p class="card nothing">No attempt has been made yet.</p>
  ) : (
    <ol class="plain-list stack tight">
      {detail.attempts.map((attempt, i) => (
        <li key={i} class="card padded stack tight">
          <div class="row">
            <strong>{count(i + 1)}</strong>
            <Badge
              label={
                attempt.status !== null && attempt.status >= 200 && attempt.status < 300
                  ? { words: String(attempt.status), tone: "good" }
                  : { words: attempt.status === null ? "No answer" : String(attempt.status), tone: "bad" }
              }
            />
            <Time at={attempt.at} />
            <span class="muted">took {millis(attempt.millis)}</span>
          </div>
          {attempt.error !== null && <p class="bad toned anywhere">{attempt.error}</p>}
          <p class="code anywhere muted">{attempt.url}</p>
          {attempt.answer !== "" && (
            <div class="sunken">
              <h3 class="caption">Answer</h3>
              <div class="code">
                <LongText
                  text={attempt.answer}
                  label={`the receiver's response to attempt ${i + 1}`}
                  chars={300}
                  lines={6}
                />
              </div>
            </div>
          )}
        </li>
      ))}
    </ol>
  )
