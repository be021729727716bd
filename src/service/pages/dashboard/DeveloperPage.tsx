/** The settings for client organizations: tokens, the webhook, and its deliveries. */
import { useState } from "preact/hooks"
import { Deliveries } from "./Deliveries.tsx"
import { PageHeading } from "./parts.tsx"
import type { Query } from "./routes.ts"
import { Tokens } from "./Tokens.tsx"
import { Webhook } from "./Webhook.tsx"

export const DeveloperPage = ({ query }: { readonly query: Query }) => {
  // Increases when a test message is queued or attempted. The list of deliveries then reloads.
  const [sent, setSent] = useState(0)
  return (
    <>
      <PageHeading title="Developer settings">
        <a href="/v1/docs">API documentation</a>
      </PageHeading>
      <Tokens />
      <Webhook onSent={() => setSent((sent) => sent + 1)} />
      <Deliveries query={query} sent={sent} />
    </>
  )
}
