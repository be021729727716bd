/** Checks which flags can be combined, before a command reads or sends anything. */
import { Effect, Predicate } from "effect"
import type * as Pipeline from "../../pipeline/Pipeline.ts"
import { joinWords, plural } from "../../io/Values.ts"
import { usageError } from "../output/ExitStatus.ts"
import { isFromEnvironment, UntypedSettings } from "./Definition.ts"
import { embeddedFlags } from "./ExpertFlags.ts"
import { inputFlags } from "./InputFlags.ts"
import { itemFlags } from "./TaskFlags.ts"

interface FlagValues {
  readonly [flag: string]: unknown
}

type Settings = Partial<Pipeline.Settings> | undefined

interface Condition {
  readonly text: string
  readonly holds: (flags: FlagValues, pipeline: Settings) => boolean
}

type Rule = { readonly flags: ReadonlyArray<string>; readonly why?: string } & (
  | { readonly onlyWith: Condition }
  | { readonly notWith: Condition }
)

const isGiven = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0)

const spelled = (flag: string, value?: unknown): string => `--${value === false ? "no-" : ""}${kebab(flag)}`

const kebab = (flag: string): string => flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const flagCondition = (flag: string): Condition => ({ text: spelled(flag), holds: (flags) => isGiven(flags[flag]) })

const either = (flag: string, setting: (pipeline: Partial<Pipeline.Settings>) => unknown): Condition => ({
  text: spelled(flag),
  holds: (flags, pipeline) => isGiven(flags[flag]) || (pipeline !== undefined && setting(pipeline) !== undefined),
})

const pipelineFile: Condition = {
  text: "a pipeline file. Change the setting in the pipeline file instead",
  holds: (_, pipeline) => pipeline !== undefined,
}

const judge: Condition = {
  text: "--expert judge:MODEL",
  holds: ({ expert }) => Array.isArray(expert) && expert.some((name) => String(name).startsWith("judge:")),
}

const baseUrl: Condition = { text: "a base URL", holds: (flags) => isGiven(flags["baseUrl"]) }

const webhookFlags = ["Path", "Scheme", "TaskIds", "DeliveryId"]

const rules: ReadonlyArray<Rule> = [
  {
    flags: [...Object.keys(inputFlags), ...Object.keys(itemFlags), ...Object.keys(embeddedFlags)].filter(
      (flag) => flag !== "files",
    ),
    notWith: pipelineFile,
  },
  { flags: ["expert", "turnaround"], notWith: baseUrl, why: "because the service at that URL has its own experts" },
  { flags: ["judgeBaseUrl", "judgeTemplate", "judgeBody", "judgeDisagreement"], onlyWith: judge },
  { flags: ["listen"], notWith: flagCondition("once"), why: "because --once does not wait for webhooks" },
  {
    flags: ["listen"],
    onlyWith: { ...baseUrl, holds: (flags, pipeline) => baseUrl.holds(flags, pipeline) || pipeline !== undefined },
    why: "because the embedded service sends no webhooks to the run",
  },
  { flags: webhookFlags.map((name) => `webhook${name}`), onlyWith: flagCondition("listen") },
  { flags: ["guidelinesFile"], notWith: flagCondition("guidelines") },
  { flags: ["maxAttempts"], onlyWith: either("resubmit", ({ resubmit }) => resubmit?.[0]) },
  { flags: ["completionsSeed"], onlyWith: flagCondition("completionsPerItem") },
  { flags: ["shuffleSeed"], notWith: { text: "--no-shuffle", holds: ({ shuffle }) => shuffle === false } },
  { flags: ["goldRate"], onlyWith: flagCondition("gold") },
  {
    flags: ["campaign"],
    notWith: flagCondition("accuracy"),
    why: "because --accuracy states the experts' accuracy, and --campaign selects the votes to estimate it from",
  },
  {
    flags: ["confidence"],
    onlyWith: { text: "--votes N..M", holds: ({ votes }) => Predicate.hasProperty(votes, "votesUpTo") },
  },
  {
    flags: ["peopleWhen"],
    onlyWith: {
      text: "--votes N..M with M above N, such as --votes 3..6",
      holds: ({ votes }) =>
        Predicate.hasProperty(votes, "votesUpTo") &&
        Predicate.hasProperty(votes, "votes") &&
        Number(votes.votesUpTo) > Number(votes.votes),
    },
    why: "because judges give the first N votes on an item, and people give the further votes",
  },
  {
    flags: ["layout", "completionsPath", "idPath", "modelsFromColumns"],
    notWith: flagCondition("completions"),
    why: "because --completions joins files",
  },
  { flags: ["completionsPath"], notWith: flagCondition("completionPath") },
  { flags: ["modelsFromColumns"], notWith: flagCondition("modelPath") },
  {
    flags: ["pairSeed"],
    onlyWith: { text: "--pairs best-against-one", holds: ({ pairs }) => pairs === "best-against-one" },
  },
  { flags: ["evaluationPath"], onlyWith: flagCondition("evaluationPrompts") },
  { flags: ["marginFrom"], onlyWith: either("margin", ({ margin }) => margin) },
  { flags: ["splitSeed", "splitBy"], onlyWith: either("split", ({ splits }) => splits) },
  {
    flags: ["results"],
    onlyWith: flagCondition("before"),
    why: "because --before sets the minimum age of the results",
  },
  {
    flags: ["signInLink"],
    notWith: flagCondition("apiOnly"),
    why: "because --api-only starts the service without a dashboard",
  },
  { flags: ["sendAgain", "giveUp"], notWith: flagCondition("adopt") },
  { flags: ["giveUp"], notWith: flagCondition("sendAgain") },
]

export const check = Effect.fn("Rules.check")(function* (flags: object, pipeline?: Settings) {
  const all: FlagValues = { ...flags }
  const untyped = yield* UntypedSettings
  for (const rule of rules) {
    // A flag set by an environment variable is not checked, because the variable is set for all commands.
    const isVariable = (flag: string) => [untyped.get(kebab(flag))].some((each) => each && isFromEnvironment(each))
    const setFlags = rule.flags.filter((flag) => isGiven(all[flag]) && !isVariable(flag))
    if (setFlags.length === 0) continue
    const isOnly = Predicate.hasProperty(rule, "onlyWith")
    const condition = isOnly ? rule.onlyWith : rule.notWith
    if (condition.holds(all, pipeline) === isOnly) continue
    const names = joinWords(setFlags.map((flag) => spelled(flag, all[flag])))
    const why = rule.why === undefined ? "" : `, ${rule.why}`
    const conflict = isOnly ? plural(setFlags.length, "requires", "require") : "cannot be combined with"
    return yield* usageError(`${names} ${conflict} ${condition.text}${why}`)
  }
})
