/**
 * Recognizes the automatic experts of the built-in service by their names. Other experts, such as custom rules, count
 * as people. `roleOf` also uses the kind of the expert, if the vote has one.
 */
import { Schema } from "effect"

export const ruleNames = ["first", "last", "longest", "shortest", "random"] as const

const names = Schema.Array(Schema.String)

export const Judges = Schema.Struct({
  people: Schema.Int,
  rules: names,
  /** Names of gold files. A file's expert is named `gold:FILE`. */
  gold_files: names,
  /** Names of language models. A model's expert is named `judge:MODEL`. */
  models: names,
})
export type Judges = typeof Judges.Type

const isRule = (name: string): boolean => ruleNames.some((rule) => rule === name)

export const judgesOf = (experts: ReadonlyArray<string>): Judges => {
  const behind = (prefix: string) =>
    experts.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : [])).toSorted()
  const rules = experts.filter(isRule).toSorted()
  const [gold_files, models] = [behind("gold:"), behind("judge:")]
  return { people: experts.length - rules.length - gold_files.length - models.length, rules, gold_files, models }
}

export const roleOf = (expert: string | null, kind: string | null): "judge" | "automatic" | "person" => {
  const name = expert ?? ""
  if (kind === "judge" || name.startsWith("judge:")) return "judge"
  return kind === "automatic" || (kind === null && (isRule(name) || name.startsWith("gold:"))) ? "automatic" : "person"
}

const joined = (parts: ReadonlyArray<string>): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`

export const describe = ({ people, gold_files, models, rules }: Judges): string => {
  const named = (noun: string, list: ReadonlyArray<string>) =>
    list.length === 0 ? [] : [`the ${noun}${list.length === 1 ? "" : "s"} ${joined(list.map((name) => `\`${name}\``))}`]
  return joined([
    ...(people === 0 ? [] : [`${people.toLocaleString("en-US")} expert${people === 1 ? "" : "s"}`]),
    ...named("rule", rules),
    ...named("gold file", gold_files),
    ...named("language model", models),
  ])
}
