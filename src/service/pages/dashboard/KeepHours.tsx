/** The choice of how long a replaced token, or a replaced secret of the webhook, stays valid. */
import { Choices } from "./forms.tsx"

const hours = ["0", "1", "24", "168", "720"]
const hourWords = ["0 hours (stops immediately)", "1 hour", "1 day", "7 days", "30 days"]

export const KeepHours = ({ legend }: { readonly legend: string }) => (
  <Choices legend={legend} name="keep_hours" value="24" options={hours.map((value, i) => [value, hourWords[i]!])} />
)
