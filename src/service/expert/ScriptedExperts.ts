/** Automatic experts by name. Rules, such as `longest`, always give the same answer to the same prompt. */
import { Effect, type FileSystem, Option, type Path, Random, Schema } from "effect"
import * as Kinds from "../../io/SettingKinds.ts"
import { describeValue } from "../../io/Values.ts"
import * as HttpClient from "../../node/HttpClient.ts"
import type { GoldFileOptions, UnusableGoldFile } from "../../source/GoldFile.ts"
import type { Expert, JudgeVote } from "./Expert.ts"
import * as Gold from "./GoldExpert.ts"
import * as JudgeExpert from "./JudgeExpert.ts"
import * as JudgeSettings from "./JudgeSettings.ts"

export { type Expert, type Judge, JudgeError, type JudgeVote } from "./Expert.ts"

const rule = (name: string, judge: (completions: ReadonlyArray<string>) => JudgeVote): Expert => ({
  name,
  judge: ({ completions }) => Effect.sync(() => Option.some(judge(completions))),
})

/** Prefers the first completion. */
export const first = rule("first", (completions) => ({
  best_completion_index: 0,
  rationale: `First of ${completions.length} completions.`,
}))

/** Prefers the last completion. */
export const last = rule("last", (completions) => ({
  best_completion_index: completions.length - 1,
  rationale: `Last of ${completions.length} completions.`,
}))

const byLength = (name: "longest" | "shortest", extreme: (...lengths: ReadonlyArray<number>) => number) =>
  rule(name, (completions) => {
    const lengths = completions.map(countCharacters)
    const length = extreme(...lengths)
    const title = `${name[0]!.toUpperCase()}${name.slice(1)}`
    return {
      best_completion_index: lengths.indexOf(length),
      rationale: `${title} of ${completions.length} completions (${length} characters).`,
    }
  })

/** Prefers the completion with the most characters. If several are equally long, prefers the first of them. */
export const longest = byLength("longest", Math.max)
/** Prefers the completion with the fewest characters. If several are equally short, prefers the first of them. */
export const shortest = byLength("shortest", Math.min)

/** Prefers a random completion. The same question always gets the same answer. */
export const random: Expert = {
  name: "random",
  judge: ({ prompt, completions }) =>
    Random.nextIntBetween(0, completions.length, { halfOpen: true }).pipe(
      Random.withSeed(JSON.stringify([prompt, completions])),
      Effect.map((index) =>
        Option.some({
          best_completion_index: index,
          rationale: `Drawn at random from ${completions.length} completions.`,
        }),
      ),
    ),
}

/** Makes an expert from a file of prompt items with `gold`. The expert has no answer to prompts outside the file. */
export const gold = Gold.gold

/** Makes an expert that asks a language model. It stores no answers, so a restart may repeat paid requests. */
export const judge = (options: JudgeExpert.JudgeOptions) => {
  const wrong = Kinds.wrongIn(options, JudgeExpert.optionKinds, ["baseUrl", "model"])
  if (wrong === undefined) return JudgeExpert.make(options)
  return Effect.fail(new JudgeSettings.JudgeSettingsError({ expert: "judge", problem: Kinds.describe(wrong) }))
}

/** No expert has this name. */
export class UnknownExpert extends Schema.TaggedError<UnknownExpert>()("UnknownExpert", {
  /** The unknown name. */
  found: Schema.String,
}) {
  override get message() {
    return `unknown expert "${this.found}": expected gold:FILE, ${Object.keys(rules).join(", ")}, judge:MODEL`
  }
}

/** Finds an expert by name: `longest`, `gold:answers.jsonl`, or `judge:gpt-4o` (with the settings in `judge`). */
export const parse = (
  text: string,
  judge?: JudgeSettings.JudgeSettings,
  goldFiles?: GoldFileOptions,
): Effect.Effect<
  Expert,
  UnknownExpert | UnusableGoldFile | JudgeSettings.JudgeSettingsError,
  FileSystem.FileSystem | Path.Path
> => {
  if (typeof text !== "string") return Effect.fail(new UnknownExpert({ found: describeValue(text) }))
  const file = /^gold:(.+)$/s.exec(text)?.[1]
  if (file !== undefined) return gold(file, goldFiles)
  const model = /^judge:(.+)$/s.exec(text)?.[1]
  if (model !== undefined) {
    return Effect.flatMap(JudgeSettings.resolve(model, judge), JudgeExpert.make).pipe(Effect.provide(HttpClient.layer))
  }
  const named = Object.values(rules).find((expert) => expert.name === text)
  return named === undefined ? Effect.fail(new UnknownExpert({ found: text })) : Effect.succeed(named)
}

const rules = { first, last, longest, shortest, random }

const countCharacters = (text: string): number => {
  let count = text.length
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) count--
  return count
}
