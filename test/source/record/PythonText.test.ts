import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as PythonText from "../../../src/source/record/PythonText.ts"

const commas = "no commas between its elements"
const left = '"..." instead of some of its elements'

describe("PythonText", () => {
  // As Python 3.11 and NumPy print them.
  it.each<readonly [string, string, unknown]>([
    [
      "messages",
      `[{'role': 'user', 'content': "it's"}, {'role': 'assistant', 'content': None}]`,
      [
        { role: "user", content: "it's" },
        { role: "assistant", content: null },
      ],
    ],
    ["escapes", String.raw`['it\'s "q" \\n \n\t\x07\xa0\u2028☃\U0001f600']`, ['it\'s "q" \\n \n\t\x07\xa0\u2028☃😀']],
    ["constants and numbers", "[True, False, None, nan, -1, 2.5e-3, 1.]", [true, false, null, null, -1, 0.0025, 1]],
    ["an own member called __proto__", "{'__proto__': [1]}", JSON.parse('{"__proto__": [1]}')],
    ["dictionaries that NumPy printed", "[{'a': 1}\n {'b': 2}]", [{ a: 1 }, { b: 2 }]],
    ["nothing, and a comma at the end", "[[], {}, ['a',],]", [[], {}, ["a"]]],
  ])("reads %s", (_, text, value) => {
    assert.deepStrictEqual(PythonText.parse(text), Result.succeed(value))
  })

  it.each<readonly [string, string, PythonText.Problem]>([
    ["texts that NumPy printed", "['a' 'b']", commas],
    ["over several lines, of several dimensions", "[['a' 'b']\n ['c' 'd']]", commas],
    ["texts that Python would read as one", "['a', 'b' 'c']", commas],
    ["what NumPy left out", "['a0' 'a1' 'a2' ... 'a1197' 'a1198' 'a1199']", left],
    [
      "what is left out of messages",
      "[{'role': 'user', 'content': 'a'}\n ...\n {'role': 'user', 'content': 'b'}]",
      left,
    ],
    ["numbers without commas, which may be anything", "[1 2 3]", undefined],
    ["a word in brackets", "[Note] see ['a']", undefined],
    ["code", "[x for x in ['a', 'b']]", undefined],
    ["what comes behind a list", "['a'] + ['b']", undefined],
    ["an object of a class", "[array(['a', 'b'], dtype='<U1')]", undefined],
    ["bytes", "[b'a']", undefined],
    ["an unknown escape", String.raw`['\d']`, undefined],
    ["a text that does not end", "['a", undefined],
    ["keys that are no text", "{1: 'a'}", undefined],
    ["nesting without end", "[".repeat(100_000), undefined],
  ])("does not read %s", (_, text, problem) => {
    assert.deepStrictEqual(PythonText.parse(text), Result.fail(problem))
  })
})
