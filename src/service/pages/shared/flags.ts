/** Labels for the kinds of flags. */
import type { Flagging } from "../../pageApi/AnnotateApi.ts"

export const flagKinds: ReadonlyArray<{ readonly kind: Flagging["kind"]; readonly words: string }> = [
  { kind: "unclear_prompt", words: "The prompt is unclear or broken" },
  { kind: "bad_completions", words: "Completions are empty, the same, or cut off" },
  { kind: "harmful_content", words: "Harmful or illegal content" },
  { kind: "personal_data", words: "Personal data" },
  { kind: "guidelines_misfit", words: "The guidelines don't fit this item" },
]

export const otherReason = "Another reason"

export const flagWords = ({ comment, kind }: Flagging): string =>
  [
    ...flagKinds.filter((each) => each.kind === kind).map(({ words }) => words),
    ...(comment === "" ? [] : [comment]),
  ].join(": ")
