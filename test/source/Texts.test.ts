import { assert, describe, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import * as Source from "../../src/source/Source.ts"

const texts = Effect.fnUntraced(function* (lines: ReadonlyArray<string>, path?: string) {
  const fs = yield* FileSystem.FileSystem
  const file = `${yield* fs.makeTempDirectoryScoped()}/evaluation.jsonl`
  yield* fs.writeFileString(file, lines.join("\n"))
  return yield* Source.texts([file, file], path)
})

it.layer(NodeServices.layer)("the texts of files", (it) => {
  it.effect("are taken from a path, or are the lines themselves, of all files in order", () =>
    Effect.gen(function* () {
      const lines = ['{"turns":[{"content":"one"}]}', "", '"two"']
      assert.deepStrictEqual(yield* texts(lines, "turns[0].content"), ["one", "two", "one", "two"])
      assert.deepStrictEqual(yield* texts(['{"prompt":"p"}']), ["p", "p"])
      assert.deepStrictEqual(yield* texts(['{"Frage 1.a":"q"}'], "Frage 1.a"), ["q", "q"])
    }),
  )

  describe.each([
    ["a number", '{"prompt":3}', /:2: cannot be read: prompt: expected a string, found 3/],
    ["nothing", '{"question":"q"}', /:2: .*prompt: expected a string, found nothing/],
    ["a member of the prototype", '{"__proto__":{"prompt":"p"}}', /:2: .*found nothing/],
    ["no JSON", "{prompt}", /:2: /],
  ])("are refused with file and line where there is %s", (_, line, expected) => {
    it.effect("", () =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(texts(['{"prompt":"p"}', line]))
        assert.match(failure.message, expected)
      }),
    )
  })

  it.effect("are refused where the path is invalid", () =>
    Effect.gen(function* () {
      assert.match((yield* Effect.flip(texts(["{}"], "a..b"))).message, /path: not a field path/)
    }),
  )
})
