/** Defines `--campaign`. A campaign consists of the runs with the same guidelines. */
import { Option } from "effect"
import { option, parsed } from "./Values.ts"

const campaignOf = (text: string): Option.Option<number | "all"> =>
  text === "all" ? Option.some(text) : /^[1-9]\d{0,8}$/.test(text) ? Option.some(Number(text)) : Option.none()

export const campaignFlag = (verb: string) =>
  option(
    parsed("campaign", campaignOf, "a campaign number, or all"),
    "N|all",
    `Campaign to ${verb} (all runs with the same guidelines), or all`,
    { default: "the last run's campaign", isTypedOnly: true },
  )
