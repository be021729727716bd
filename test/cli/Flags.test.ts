import { assert, describe, it } from "@effect/vitest"
import { inFlags } from "../../src/cli/output/Flags.ts"
import * as OptionText from "../../src/io/OptionText.ts"

describe("messages of the library on the command line", () => {
  it.each([
    ["set `prompt` or `newCampaign: true`", "set --prompt-path or --new-campaign"],
    ['set `choiceAs: "scores"`, or `maxRejects: "100%"`', "set --choice-as scores, or --max-rejects 100%"],
    ["set `header: false` if", "set --no-header if"],
    [
      `set ${OptionText.set({ choice: ["a", "b c"], choiceAs: "ranks" })}`,
      "set --choice-path a --choice-path 'b c' --choice-as ranks",
    ],
    [`${OptionText.set({ ignore: ["a", "it's"] })} if`, String.raw`--ignore-field a and --ignore-field 'it'\''s' if`],
    [
      OptionText.set({ choiceMap: { "Yes, it is": "first", ">0.5": "tie" } }),
      `--choice-map '"Yes, it is"=first,>0.5=tie'`,
    ],
    [`set ${OptionText.set({ prompt: String.raw`{a: b}\n\n{c}` })}`, String.raw`set --prompt-path '{a: b}\n\n{c}'`],
    [`set ${OptionText.set({ completions: ["…", "…"] })} once`, "set --completion-path once"],
    ["Set a valid `token`.", "Set a valid PREFSTREAM_TOKEN."],
    ["use `Job.giveUp`, then `Job.sendAgain`", "use --give-up, then --send-again"],
    ["join with `Source.join` and `key`", "join with --completions FILE and --key"],
    ["run `Pipeline.collect(pipeline, { recheckCompleted: true })`", "run prefstream collect --recheck-completed"],
  ])("%s", (message, expected) => assert.strictEqual(inFlags(message), expected))

  it.each([
    'found "set `prompt`, \\" or `key`" in the record',
    "run `prefstream ledger check`",
    "the rule `longest`, `constructor`, `prompt: [`, and `other: 1`",
  ])("keeps data, and what is no option: %s", (message) => assert.strictEqual(inFlags(message), message))

  it("keeps the columns of a list of options", () =>
    assert.strictEqual(
      inFlags('Two:\n  `choiceAs: "index"`                   one\n  `choiceMap: { "0": "second" }`  two'),
      "Two:\n  --choice-as index        one\n  --choice-map '0=second'  two",
    ))
})
