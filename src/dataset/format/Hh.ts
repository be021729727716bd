/**
 * Transcripts of hh-rlhf (Bai et al., 2022). Readers end a prompt at the last `\n\nAssistant:`, so a pair is omitted if
 * one of its texts contains a turn marker.
 */
import { Result, Schema } from "effect"
import { describeValue } from "../../io/Values.ts"
import * as Cuts from "./Cuts.ts"
import * as PairTexts from "./PairTexts.ts"
import { issueAt, Text } from "./RowSchema.ts"
import { type Checked, refuse, rowPerPair, type TrainerFormat } from "./TrainerFormat.ts"

const human = "\n\nHuman:"
const assistant = "\n\nAssistant:"

const requireNoMarks = (field: string, text: string): Checked<string> => {
  const mark = [human, assistant].find((mark) => text.includes(mark))
  return mark === undefined
    ? Result.succeed(text)
    : refuse(field, "text without turn markers", `${describeValue(mark)} in the text`)
}

export const hh: TrainerFormat = {
  name: "hh",
  warnings: Cuts.commonBeginnings((shared) => shared.lastIndexOf(assistant) + assistant.length + 1),
  description: "Anthropic hh transcripts: chosen and rejected contain all turns of Human and Assistant",
  container: "jsonl",
  features: () => ({ chosen: "string", rejected: "string" }),
  encoder: rowPerPair(({ chosen, prompt, rejected }) =>
    Result.gen(function* () {
      const { system, turns } = yield* PairTexts.toTurns(prompt, { asks: ["user"], answers: ["assistant"] })
      if (system !== "") return yield* refuse("prompt[0].role", "user or assistant", '"system"')
      let transcript = ""
      for (const [i, { content, role }] of turns.entries()) {
        const field = typeof prompt === "string" ? "prompt" : `prompt[${i}].content`
        transcript += `${role === "user" ? human : assistant} ${yield* requireNoMarks(field, content)}`
      }
      return {
        chosen: `${transcript}${assistant} ${yield* requireNoMarks("chosen", chosen)}`,
        rejected: `${transcript}${assistant} ${yield* requireNoMarks("rejected", rejected)}`,
      }
    }),
  ),
  row: Schema.Struct({ chosen: Text, rejected: Text }).check(
    Schema.makeFilter(({ chosen, rejected }) => {
      for (const [side, transcript] of [
        ["chosen", chosen],
        ["rejected", rejected],
      ] as const) {
        const problem = transcriptProblem(transcript)
        if (problem !== undefined) return issueAt([side], problem)
      }
      const prompt = chosen.slice(0, chosen.lastIndexOf(assistant))
      if (rejected.slice(0, rejected.lastIndexOf(assistant)) !== prompt)
        return issueAt(["rejected"], "the same turns as `chosen`, except the last Assistant turn")
      return chosen === rejected ? issueAt(["rejected"], "a text that differs from `chosen`") : undefined
    }),
  ),
}

const transcriptProblem = (transcript: string): string | undefined => {
  const [before, ...parts] = transcript.split(/\n\n(Human|Assistant):/)
  if (before !== "" || parts[0] !== "Human") return `a text that begins with ${describeValue(human)}`
  const speakers = parts.filter((_, i) => i % 2 === 0)
  if (speakers.some((speaker, i) => speaker !== (i % 2 === 0 ? "Human" : "Assistant")))
    return "alternating turns of Human and Assistant"
  if (speakers.at(-1) !== "Assistant") return "Assistant as the last turn"
  return parts.at(-1)!.replace(/^ /, "") === "" ? "text in the last Assistant turn" : undefined
}
