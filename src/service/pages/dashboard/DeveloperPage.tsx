/** Settings for client organizations: tokens, the webhook, and its deliveries. */
import { useState } from "preact/hooks"
import { Deliveries } from "./Deliveries.tsx"
import { PageHeading } from "./parts.tsx"
import { Tokens } from "./Tokens.tsx"
import { Webhook } from "./Webhook.tsx"

export const DeveloperPage = ({ before }: { readonly before: number | undefined }) => {
  // Grows when something was sent: the log is read anew.
  const [sent, setSent] = useState(0)
  return (
    <>
      <PageHeading title="Developer settings">
        <a href="/v1/docs">Interface documentation</a>
      </PageHeading>
      <Tokens />
      <Webhook onSent={() => setSent((sent) => sent + 1)} />
      <Deliveries before={before} sent={sent} />
    </>
  )
}
