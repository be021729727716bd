import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Prompt } from "../../../src/domain/Message.ts"
import * as History from "../../../src/source/item/History.ts"
import * as Field from "../../../src/source/record/Field.ts"
import { assistant, user } from "../layout/support.ts"

const field = Result.getOrThrow(Field.parse("history"))
const add = (history: unknown, prompt: Prompt, isTextual?: true) =>
  Result.merge(History.add(field, { value: { history }, isTextual }, prompt))

const system = { role: "system", content: "S" }
const turns = [user("Q"), assistant("A")] as const

describe("History", () => {
  it.each<readonly [string, unknown, Prompt, unknown]>([
    ["pairs before a text", [["Q", "A"]], "R", [...turns, user("R")]],
    ["messages before a text", turns, "R", [...turns, user("R")]],
    [
      "of ShareGPT",
      [
        { from: "human", value: "Q" },
        { from: "gpt", value: "A" },
      ],
      "R",
      [...turns, user("R")],
    ],
    ["pairs by name", [{ assistant: "A", human: "Q" }], "R", [...turns, user("R")]],
    ["after the system prompt of the messages", [["Q", "A"]], [system, user("R")], [system, ...turns, user("R")]],
    ["not again before messages that begin so", turns, [system, ...turns, user("R")], [system, ...turns, user("R")]],
    ["turns that end with the prompt", [...turns, user("R")], "R", [...turns, user("R")]],
    ["none", [], "R", "R"],
    ["null", null, "R", "R"],
    [
      "another's turn at the end",
      [...turns, user("P")],
      "R",
      `history[2]: expected the last message to be the prompt, or a message of the assistant, found the role "user"`,
    ],
    ["text", "Q: A", "R", 'history: expected messages, or pairs of texts, found "Q: A"'],
    ["pairs of another kind", [["Q", null]], "R", "history: expected messages, or pairs of texts, found an array"],
    [
      "half a character",
      [["\ud800", "A"]],
      "R",
      "history[0].content: expected well-formed Unicode, found a lone surrogate",
    ],
  ])("%s", (_, history, prompt, expected) => {
    assert.deepStrictEqual(add(history, prompt), expected)
  })

  it("is JSON in a cell of text", () => {
    assert.deepStrictEqual(add('[["Q","A"]]', "R", true), [...turns, user("R")])
  })
})
