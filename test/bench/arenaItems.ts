/**
 * Items of real texts: the prompts of Arena-Hard with the answers of three models, again and again, with an ordinal in
 * front of each prompt. Needs the public data next to the checkout. The same ordinal always gives the same item.
 */
import { readFileSync } from "node:fs"
import { sharedData } from "../support/sharedData.ts"

const folder = sharedData("arena-hard")
if (folder === undefined) throw new Error("arena-hard is not there: see CONTRIBUTING.md")

interface Turns {
  readonly question_id: string
  readonly turns: ReadonlyArray<{ readonly content: string }>
}

const linesOf = <A>(file: string) =>
  readFileSync(`${folder}/${file}.jsonl`, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as A)

const answers = ["gpt-3.5-turbo-0125", "gpt-4-0314", "gpt-4-0613"].map((model) => {
  const lines = linesOf<{ readonly question_id: string; readonly choices: ReadonlyArray<Turns> }>(`answers/${model}`)
  return new Map(lines.map(({ choices, question_id }) => [question_id, choices[0]!.turns[0]!.content]))
})

const items = linesOf<Turns>("question").map(({ question_id, turns }) => ({
  prompt: turns[0]!.content,
  completions: answers.map((of) => of.get(question_id)!),
}))

export const itemOf = (ordinal: number) => {
  const { completions, prompt } = items[ordinal % items.length]!
  return { id: `item-${ordinal}`, prompt: `${ordinal}: ${prompt}`, completions }
}

export const rationaleOf = (ordinal: number) => `The answer is right, and says why (${ordinal}).`
