/** The log of the webhook's deliveries, newest first. */
import type { Delivery } from "../../pageApi/DashboardApi.ts"
import * as client from "./client.ts"
import { count } from "./format.ts"
import { useResource } from "./hooks.ts"
import { paging, useTrail } from "./paging.ts"
import { ActionButton, Badge, Loaded, Pager, Section, Time } from "./parts.tsx"
import { Table } from "./Table.tsx"
import { format } from "./routes.ts"
import { deliveryLabel } from "./wording.ts"

export const Deliveries = ({ before, sent }: { readonly before: number | undefined; readonly sent: number }) => {
  const resource = useResource(`${before} ${sent}`, () => client.deliveries(before), 5000)
  const trail = useTrail(before)
  return (
    <Section id="deliveries" title="Deliveries">
      <Loaded resource={resource}>
        {({ deliveries, next }) => (
          <>
            {deliveries.length === 0 ? (
              <p class="card nothing">
                {before === undefined ? "Nothing was sent yet." : "There are no older deliveries."}
              </p>
            ) : (
              <Log deliveries={deliveries} reload={() => void resource.reload()} />
            )}
            <Pager
              label="Pages of deliveries"
              at={before}
              paging={paging(trail, before, next)}
              href={(before) => format({ page: "developer", before })}
            />
          </>
        )}
      </Loaded>
    </Section>
  )
}

const Log = ({ deliveries, reload }: { readonly deliveries: ReadonlyArray<Delivery>; readonly reload: () => void }) => (
  <Table
    label="Deliveries"
    rows={deliveries}
    keyOf={({ message_id }) => message_id}
    columns={[
      {
        label: "Delivery",
        cell: (delivery) => (
          <>
            <a class="code" href={format({ page: "delivery", messageId: delivery.message_id })}>
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
      { label: "", cell: (delivery) => <Resend delivery={delivery} reload={reload} /> },
    ]}
  />
)

export const Resend = ({ delivery, reload }: { readonly delivery: Delivery; readonly reload: () => void }) => (
  <ActionButton
    class="compact"
    label={`Resend ${delivery.message_id}`}
    ask={() => client.resend(delivery.message_id)}
    said="The delivery is attempted once more."
    onDone={reload}
  >
    Resend
  </ActionButton>
)
