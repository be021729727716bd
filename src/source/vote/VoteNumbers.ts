/** Finds the column `vote` of exported votes. It contains the numbers 1, 2, … of the votes on an item, not choices. */
import type * as Sample from "../detect/Sample.ts"
import { numberOf } from "./ChoiceMap.ts"

export const find = ({ members, records }: Pick<Sample.Sample, "members" | "records">): Sample.Member | undefined => {
  const member = (name: string) => members.find((each) => each.name === name)
  if (member("item_id") === undefined || member("expert") === undefined || member("chosen_index") !== undefined)
    return undefined
  const seen = new Set<string>()
  const areNumbers = records.every((record) => {
    const number = numberOf(record["vote"]) ?? 0
    const key = JSON.stringify([record["item_id"], number])
    return Number.isInteger(number) && number >= 1 && !seen.has(key) && seen.add(key)
  })
  return areNumbers ? member("vote") : undefined
}

export const problem =
  'found no choices: the column "chosen_index" is missing, and the column "vote" only numbers the votes on an item (1, 2, …), as in tables of prefstream export-votes'
