/** Links to the table of votes on the items that match, as files. */
import { votesHref } from "./deskClient.ts"
import type { ItemFilter } from "./routes.ts"

export const VoteLinks = ({ filter }: { readonly filter: ItemFilter }) => (
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
