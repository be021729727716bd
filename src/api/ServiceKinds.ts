/** The kind of value that each service setting must have, checked at run time. `ServiceProfile` checks the ranges. */
import * as Kinds from "../io/SettingKinds.ts"
import * as TaskMembers from "./TaskMembers.ts"

export const serviceKinds: Kinds.Kinds = {
  ...Kinds.all(Kinds.anyText, "baseUrl identity authorization createRequest pollRequest choice kindPath"),
  ...Kinds.all(Kinds.texts, "completedStatuses failedStatuses openStatuses taskIdPaths"),
  ...Kinds.all(Kinds.object, "requestExtra pollInterval webhook"),
  resultPaths: Kinds.recordOf("an object with field paths", Kinds.anyText),
  taskMembers: [TaskMembers.form, (value) => value === "declared" || Kinds.object[1](value)],
  token: Kinds.redacted,
  moved: Kinds.flag,
}
