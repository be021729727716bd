/** The log of the webhook's deliveries, newest first. */
import { useContext, useRef } from "preact/hooks"
import type { Delivery } from "../../pageApi/DashboardApi.ts"
import * as client from "./client.ts"
import { count } from "./format.ts"
import { Say, useAction, useResource } from "./hooks.ts"
import { paging, start, type Trail, visit } from "./paging.ts"
import { Badge, Loaded, Pager, Problem, Time } from "./parts.tsx"
import { format } from "./routes.ts"
import { deliveryLabel } from "./wording.ts"

export const Deliveries = ({ before, sent }: { readonly before: number | undefined; readonly sent: number }) => {
  const resource = useResource(`${before} ${sent}`, () => client.deliveries(before), 5000)
  const trail = useRef<Trail>(start)
  trail.current = visit(trail.current, before)
  return (
    <section class="section" aria-labelledby="deliveries">
      <h2 id="deliveries" tabIndex={-1}>
        Deliveries
      </h2>
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
              paging={paging(trail.current, before, next)}
              href={(before) => format({ page: "developer", before })}
            />
          </>
        )}
      </Loaded>
    </section>
  )
}

const Log = ({ deliveries, reload }: { readonly deliveries: ReadonlyArray<Delivery>; readonly reload: () => void }) => (
  <div class="card table-card">
    <table class="cards" role="table" aria-label="Deliveries">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader">Delivery</th>
          <th role="columnheader">State</th>
          <th role="columnheader">Attempts</th>
          <th role="columnheader">Last answer</th>
          <th role="columnheader">Next attempt</th>
          <th role="columnheader">Created</th>
          <th role="columnheader">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {deliveries.map((delivery) => (
          <tr role="row" key={delivery.message_id}>
            <th role="rowheader" scope="row">
              <a class="code" href={format({ page: "delivery", messageId: delivery.message_id })}>
                {delivery.type}
              </a>
              <span class="group anywhere">
                {delivery.tasks > 0 && <bdi>{delivery.group_id}</bdi>}
                {delivery.tasks > 1 && `, ${count(delivery.tasks)} tasks`}
              </span>
            </th>
            <td role="cell" data-label="State">
              <Badge label={deliveryLabel[delivery.state]} />
            </td>
            <td role="cell" data-label="Attempts">
              {count(delivery.attempts)}
            </td>
            <td role="cell" data-label="Last answer">
              {delivery.last_status ?? <span class="muted">none</span>}
            </td>
            <td role="cell" data-label="Next attempt" class={delivery.next_attempt_at === null ? "none" : ""}>
              {delivery.next_attempt_at === null ? (
                <span class="muted">none</span>
              ) : (
                <Time at={delivery.next_attempt_at} />
              )}
            </td>
            <td role="cell" data-label="Created">
              <Time at={delivery.created_at} />
            </td>
            <td role="cell" class="actions">
              <Resend delivery={delivery} reload={reload} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

export const Resend = ({ delivery, reload }: { readonly delivery: Delivery; readonly reload: () => void }) => {
  const action = useAction()
  const say = useContext(Say)
  return (
    <>
      <button
        type="button"
        class="button compact"
        aria-label={`Resend ${delivery.message_id}`}
        aria-disabled={action.busy}
        onClick={() =>
          void action.run(
            () => client.resend(delivery.message_id),
            () => {
              say("The delivery is attempted once more.")
              reload()
            },
          )
        }
      >
        Resend
      </button>
      <Problem words={action.problem} />
    </>
  )
}
