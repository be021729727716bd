import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as Source from "../../src/source/Source.ts"
import { test } from "./support.ts"

const texts = Effect.fnUntraced(function* (lines: ReadonlyArray<string>, path?: string) {
  const fs = yield* FileSystem.FileSystem
  const file = `${yield* fs.makeTempDirectoryScoped()}/evaluation.jsonl`
  yield* fs.writeFileString(file, lines.join("\n"))
  return yield* Source.texts([file, file], path)
})

describe("the texts of files", () => {
  test("are taken from a path, or are the lines themselves, of all files in order", function* () {
    const lines = ['{"turns":[{"content":"one"}]}', "", '"two"']
    assert.deepStrictEqual(yield* texts(lines, "turns[0].content"), ["one", "two", "one", "two"])
    assert.deepStrictEqual(yield* texts(['{"prompt":"p"}']), ["p", "p"])
    assert.deepStrictEqual(yield* texts(['{"Frage 1.a":"q"}'], "Frage 1.a"), ["q", "q"])
  })

  test.each<readonly [string, string, RegExp]>([
    ["a number", '{"prompt":3}', /:2: cannot be read: prompt: expected a string, found 3/],
    ["nothing", '{"question":"q"}', /:2: .*prompt: expected a string, found nothing/],
    ["a member of the prototype", '{"__proto__":{"prompt":"p"}}', /:2: .*found nothing/],
    ["no JSON", "{prompt}", /:2: /],
  ])("are refused with file and line where there is %s", function* ([, line, expected]) {
    const failure = yield* Effect.flip(texts(['{"prompt":"p"}', line]))
    assert.match(failure.message, expected)
  })

  test("are refused where the path is invalid", function* () {
    assert.match((yield* Effect.flip(texts(["{}"], "a..b"))).message, /`path`: not a field path/)
  })
})
