/** A dataset is the same whether a thread writes it or this one, from bytes or from strings; a thread that is lost loses nothing. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import * as PairBytes from "../../src/domain/PairBytes.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import * as JsonText from "../../src/domain/JsonText.ts"
import { Threads } from "../../src/node/Thread.ts"
import { drawn } from "../support/cases.ts"
import { hashes } from "../support/hashes.ts"
import { difficultPairs, difficultTexts, pair } from "../support/pairs.ts"
import { watched } from "../support/threads.ts"
import { test } from "./support.ts"

const length = (i: number) => (i * 7919) % 1_500

/** 3 MB in texts: several messages, and a text that is larger than a message. */
const pairs: ReadonlyArray<PreferencePair> = [
  ...difficultPairs,
  ...Array.from({ length: 1_200 }, (_, i) => {
    const text = difficultTexts[i % difficultTexts.length]!
    const chosen =
      i === 700 ? "large ".repeat(200_000) : `${text}${"é".repeat(length(i) % 700)}${"x\n".repeat(length(i))}`
    const prompt = `${text} ${Math.floor(i / 3)}?`
    return pair(i, { prompt, chosen, rejected: `${text} no ${i}`, item_id: `item-${Math.floor(i / 3)}` })
  }),
]

/** The same pair with its texts as bytes, where it has none that are messages. */
const asBytes = (from: PreferencePair): PreferencePair => {
  const { chosen, prompt, rejected, ...others } = from
  const body = Buffer.from(JSON.stringify([prompt, chosen, rejected]))
  let at = 1
  const places = [0, 1, 2].map((): JsonText.Place => {
    const place: JsonText.Place = [at, JsonText.endOf(body, at)]
    at = place[1] + 1
    return place
  })
  return PairBytes.make({ body, places: [places[0]!, places[1]!, places[2]!] }, prompt as string, others)
}

const write = (directory: string, from: ReadonlyArray<PreferencePair>, conversational: boolean) =>
  Stream.run(
    Stream.fromIterable(from),
    Dataset.write({
      directory,
      conversational,
      splitOf: ({ item_id }) => (Number(item_id.slice(5)) % 5 === 0 ? "test" : "train"),
      formats: ["trl", "verl", "openrlhf", "llamafactory-sharegpt"],
      shardBytes: 1_000_000,
    }),
  )

describe("a dataset", () => {
  for (const conversational of drawn([false, true])) {
    test(`has the same bytes in a thread, in this thread, and from bytes; conversational: ${conversational}`, function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const sources = {
        strings: pairs,
        bytes: pairs.map(asBytes),
        mixed: pairs.map((each, i) => (i % 3 === 1 ? asBytes(each) : each)),
      }
      const expected = yield* write(`${folder}/here`, pairs, conversational).pipe(
        Effect.provideService(Threads, "never"),
        Effect.map(() => hashes(`${folder}/here`)),
      )
      assert.isAbove(Object.keys(expected).length, 12)
      for (const threads of ["always", "never"] as const) {
        for (const [name, source] of Object.entries(sources)) {
          const directory = `${folder}/${name}-${threads}`
          yield* Effect.provideService(write(directory, source, conversational), Threads, threads)
          assert.deepStrictEqual(hashes(directory), expected, `${name}, ${threads}`)
        }
      }
    })
  }

  test("whose thread is lost fails, and leaves the older one", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const directory = `${folder}/dataset`
    yield* write(directory, pairs.slice(0, 50), false)
    const before = hashes(directory)
    for (const messages of [1, 5, 20]) {
      let answered = 0
      const error = yield* Effect.acquireUseRelease(
        Effect.sync(() =>
          watched((thread) => thread.on("message", () => ++answered === messages && void thread.terminate())),
        ),
        () => Effect.flip(Effect.provideService(write(directory, pairs, false), Threads, "always")),
        (takeBack) => Effect.sync(takeBack),
      )
      assert.strictEqual(error.reason._tag, "FileSystemFailure")
      assert.include(error.message, "the thread dataset/DatasetStage ended before its work was done")
      assert.deepStrictEqual(hashes(directory), before)
      assert.deepStrictEqual(yield* fs.readDirectory(folder), ["dataset"])
    }
  })
})
