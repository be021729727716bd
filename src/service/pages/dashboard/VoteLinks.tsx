/** Links that download the votes on matching items as files. */
import { addressOf } from "./client.ts"
import type { Query } from "./routes.ts"

const votesHref = (filter: Query, format: "jsonl" | "csv") => addressOf("GET /votes", { query: { ...filter, format } })

export const VoteLinks = ({ filter }: { readonly filter: Query }) => (
  <p class="small vote-links">
    Download votes:{" "}
    <a href={votesHref(filter, "jsonl")} download="votes.jsonl">
      JSON Lines
    </a>
    ,{" "}
    <a href={votesHref(filter, "csv")} download="votes.csv">
      CSV
    </a>
  </p>
)
