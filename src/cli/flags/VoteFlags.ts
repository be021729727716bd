/** Defines the flags that say where a record has its votes, and makes a source of votes from them. */
import { type Command, Flag } from "effect/cli"
import { Effect, Result } from "effect"
import { choiceKinds } from "../../source/vote/Choice.ts"
import * as ChoiceMap from "../../source/vote/ChoiceMap.ts"
import * as Source from "../../source/Source.ts"
import { usageError } from "../output/ExitStatus.ts"
import { filesArgument, formatOptionsOf, type InputFlags, inputFlags } from "./InputFlags.ts"
import { inGroup } from "./Definition.ts"
import { literals, repeated, text } from "./Values.ts"

const { completions: _completions, files: _files, key: _key, ...itemFlags } = inputFlags

export const voteFlags = {
  files: filesArgument("URLs (https, s3, gs, hf), or - for stdin"),
  ...inGroup("VOTES", {
    choicePath: repeated(
      Flag.String("choice-path"),
      "PATH",
      "Path of the choice; repeatable if each expert or completion has its own column",
      { default: "detected", isEssential: true },
    ),
    choiceAs: literals(
      "choice-as",
      choiceKinds,
      "Form of the choice (index: from 0; number: from 1; scores, ranks, one-hot: a value per completion)",
      { metavar: "KIND", isEssential: true },
    ),
    choiceMap: text(
      "choice-map",
      "MAP",
      "Meanings of values, such as '0=first,>0.5=second'; other meanings: tie, all_bad, none, a model name",
      { isEssential: true },
    ),
    votesPath: text("votes-path", "PATH", "Path of the list of votes, if a record has all votes of an item", {
      default: "detected",
      isEssential: true,
    }),
    expertPath: text("expert-path", "PATH", "Path of the expert's name", { default: "detected", isEssential: true }),
    rationalePath: text("rationale-path", "PATH", "Path of the vote's rationale", { default: "detected" }),
    strengthPath: text("strength-path", "PATH", "Path of the preference strength", { default: "detected" }),
    judgedAtPath: text("judged-at-path", "PATH", "Path of the time of the vote", { default: "detected" }),
  }),
  ...itemFlags,
}

type VoteFlags = Command.Command.Config.Infer<typeof voteFlags>

export const votesOf = Effect.fnUntraced(function* (flags: VoteFlags) {
  const common: InputFlags = { ...flags, completions: [], key: undefined }
  if (flags.layout === "long") {
    return yield* usageError(
      "--layout long cannot be used for votes: each record must have all completions of its item",
    )
  }
  const choiceMap = flags.choiceMap === undefined ? undefined : ChoiceMap.parse(flags.choiceMap)
  if (choiceMap !== undefined && Result.isFailure(choiceMap)) {
    return yield* usageError(`--choice-map: ${choiceMap.failure}`)
  }
  return Source.votes(flags.files, {
    ...(yield* formatOptionsOf(common)),
    votes: {
      choice: flags.choicePath.length === 0 ? undefined : flags.choicePath,
      choiceAs: flags.choiceAs,
      choiceMap: choiceMap?.success,
      votes: flags.votesPath,
      expert: flags.expertPath,
      rationale: flags.rationalePath,
      strength: flags.strengthPath,
      judgedAt: flags.judgedAtPath,
    },
  })
})
