/** What an input has, and what a run would make of it. */
import type { Inspection } from "../../pipeline/Inspection.ts"
import type { Preview } from "../../pipeline/Preview.ts"
import { duplicates, rejectCount } from "./Summary.ts"
import { count, number, present, rowsOf, table } from "./Text.ts"

/** `3 items + 2 known + 0 duplicates + 1 rejected`. */
export const counts = ({
  items,
  known,
  rejected,
  ...others
}: Pick<Inspection, "items" | "known" | "rejected" | "duplicates" | "reordered">): string =>
  present([
    count(items, "item"),
    known > 0 && `${number(known)} known`,
    duplicates(others),
    `${number(rejected)} rejected`,
  ]).join(" + ")

export const text = (preview: Preview): string => {
  const { items, planned, read, rejects, stopped, tasks, votes } = preview
  return [
    "Nothing was sent or recorded.",
    "",
    ...table([
      ["records", `${number(read)} = ${counts(preview)}`],
      ["", stopped && "all rejected so far: the rest was not read"],
      ...rowsOf("rejected", rejects.map(rejectCount)),
      [
        "to send",
        `${count(tasks, "task")} of ${count(items, "item")}${votes === 1 ? "" : `, ${number(votes)} votes of each`}`,
      ],
      ["", planned > 0 && `and ${count(planned, "task")} of earlier runs`],
    ]),
  ].join("\n")
}
