/** Lists the webhook's deliveries, newest first. */
import type { Delivery } from "../../pageApi/WebhookApi.ts"
import { ask } from "./client.ts"
import { count } from "./format.ts"
import { useResource } from "./hooks.ts"
import { askPage, filtered, List } from "./List.tsx"
import { ActionButton, Badge, Section, Time } from "./parts.tsx"
import { href, type Query } from "./routes.ts"
import { deliveryLabel } from "./wording.ts"

export const Deliveries = ({ query: address, sent }: { readonly query: Query; readonly sent: number }) => {
  const query = filtered(address, [])
  const load = () => askPage("GET /deliveries", query, 20)
  const resource = useResource(`${query.before} ${sent}`, load, 5000)
  return (
    <Section id="deliveries" title="Deliveries">
      <List
        resource={resource}
        at={["developer", query]}
        nothing={query.before === undefined ? "Nothing has been sent yet." : "There are no older deliveries."}
        label="Deliveries"
        rows={({ deliveries }) => deliveries}
        keyOf={({ message_id }) => message_id}
        columns={[
          {
            label: "Delivery",
            cell: (delivery) => (
              <>
                <a class="code" href={href("delivery", { id: delivery.message_id })}>
                  {delivery.type}
                </a>
                <span class="group anywhere">
                  {delivery.tasks > 0 && <bdi>{delivery.group_id}</bdi>}
                  {delivery.tasks > 1 && `, ${count(delivery.tasks)} tasks`}
                </span>
              </>
            ),
          },
          { label: "State", cell: ({ state }) => <Badge label={deliveryLabel[state]} /> },
          { label: "Attempts", cell: ({ attempts }) => count(attempts) },
          { label: "Last answer", cell: ({ last_status }) => last_status },
          { label: "Next attempt", cell: ({ next_attempt_at }) => next_attempt_at && <Time at={next_attempt_at} /> },
          { label: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
          { label: "", cell: (delivery) => <Resend delivery={delivery} /> },
        ]}
      />
    </Section>
  )
}

export const Resend = ({ delivery }: { readonly delivery: Delivery }) => (
  <ActionButton
    look="compact"
    text="Resend"
    label={`Resend ${delivery.message_id}`}
    ask={() => ask("POST /deliveries/:message_id/resend", { params: { message_id: delivery.message_id } })}
    success="The delivery will be attempted again."
  />
)
