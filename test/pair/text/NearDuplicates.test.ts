import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect } from "effect"
import * as ScratchFile from "../../../src/node/ScratchFile.ts"
import { Threads } from "../../../src/node/Thread.ts"
import * as MinHash from "../../../src/pair/text/MinHash.ts"
import * as NearDuplicates from "../../../src/pair/text/NearDuplicates.ts"
import * as NormalizedPrompt from "../../../src/pair/text/NormalizedPrompt.ts"
import * as Signatures from "../../../src/pair/text/Signatures.ts"
import { edited, hostile, signature, similarity, words } from "./support.ts"

/** Adds texts, 1,000 at a time. */
const addAll = ({ add, room }: NearDuplicates.NearDuplicates, texts: ReadonlyArray<string>) =>
  Effect.forEach(
    Arr.chunksOf(texts, 1_000),
    (chunk) => {
      chunk.forEach((text) => add(text))
      return room
    },
    { discard: true },
  )

/** For each text those before it that it nearly repeats, in order. */
const findAll = (texts: ReadonlyArray<string>, threshold?: number): Promise<ReadonlyArray<ReadonlyArray<number>>> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const index = yield* NearDuplicates.make(threshold)
      yield* addAll(index, texts)
      const found = texts.map(() => new Set<number>())
      yield* index.search(
        () => true,
        (earlier, later) => void found[later]!.add(earlier),
      )
      const all = found.map((earlier) => [...earlier].toSorted((a, b) => a - b))
      assert.deepStrictEqual(
        [...(yield* index.earliest)],
        all.map(([first], i) => first ?? i),
      )
      return all
    }).pipe(Effect.scoped),
  )

/** For each text those before it that it resembles, by comparing it with every one of them. */
const byComparing = (texts: ReadonlyArray<string>, threshold: number): ReadonlyArray<ReadonlyArray<number>> => {
  const signatures = texts.map(signature)
  return texts.map((_, i) =>
    [...Array(i).keys()].filter((j) => similarity(signatures[j]!, signatures[i]!) >= threshold),
  )
}

describe("NearDuplicates", () => {
  it("finds the earlier ones, of equal ones the first, and nothing where there is none", async () => {
    const { text } = words(1)
    const [a, b] = [text(40), text(40)]
    const found = await findAll([a, b, `${a}!`, b, a, `${a}?`, text(40)])
    assert.deepStrictEqual(found, [[], [], [0], [1], [0], [0, 2], []])
  })

  it("names all that are resembled, earliest first, those that repeat others themselves, too", async () => {
    const { below, text } = words(2)
    const a = text(100)
    const b = edited(a, 20, below)
    const half = a.slice(0, a.length / 2) + b.slice(a.length / 2)
    assert.isBelow(similarity(signature(a), signature(b)), 0.78)
    assert.deepStrictEqual(await findAll([a, b, half, `${half}!`], 0.78), [[], [], [0, 1], [0, 1, 2]])
  })

  it("finds what comparing with every text finds, but for what no band shares", async () => {
    const { below, text } = words(3)
    const texts: Array<string> = []
    for (let i = 0; i < 1_200; i++) {
      const known = texts[below(texts.length)]
      texts.push(known === undefined || i % 2 === 0 ? text(20 + below(60)) : edited(known, below(10), below))
    }
    const found = await findAll(texts)
    const reference = byComparing(texts, 0.8)
    // Of equal ones, the first alone is found.
    const repeating = reference.flatMap((earlier, i) =>
      earlier.length > 0 && texts.indexOf(texts[i]!) === i ? [i] : [],
    )
    assert.isAbove(repeating.length, 300)
    // At a Jaccard index of 0.8 a band is shared with probability 0.996; most of these are more alike.
    const same = repeating.filter((i) => found[i]![0] === reference[i]![0])
    assert.isAbove(same.length / repeating.length, 0.99)
    found.forEach((earlier, i) => assert.includeMembers([...reference[i]!], [...earlier]))
  })

  it("compares with the first 32 that share a band", async () => {
    const { text } = words(5)
    const a = text(200)
    const found = await findAll(Array.from({ length: 80 }, (_, i) => `${a} ${i}`))
    const last = found.at(-1)!
    assert.deepStrictEqual(last.slice(0, 32), [...Array(32).keys()])
    assert.isBelow(last.length, 48)
  })

  it("keeps tens of thousands of texts apart, and finds each again", async () => {
    const { text } = words(5)
    // More than memory holds of them.
    const texts = Array.from({ length: 70_000 }, () => text(12))
    const found = await findAll([...texts, ...texts, ...texts.slice(0, 100).map((text) => `${text}.`)])
    assert.isTrue(found.slice(0, texts.length).every((earlier) => earlier.length === 0))
    found.slice(texts.length).forEach(([first], i) => assert.strictEqual(first, i % texts.length))
  })

  it("fails where the scratch file cannot be made, which few prompts do not need", async () => {
    const { text } = words(6)
    const fill = Effect.fnUntraced(function* (count: number) {
      const index = yield* NearDuplicates.make(undefined, "/nowhere/at/all")
      const texts = Array.from({ length: count }, () => text(1))
      yield* addAll(index, texts)
      yield* index.earliest
    }, Effect.scoped)
    await Effect.runPromise(fill(10_000))
    const failure = await Effect.runPromise(Effect.flip(fill(70_000)))
    assert.strictEqual(failure._tag, "ScratchFileFailed")
    assert.include(failure.message, "could not read or write a temporary file in /nowhere/at/all: ENOENT")
  })

  it("finds near-duplicates of prompts of a few words, and in scripts that do not separate words", async () => {
    for (const [one, other] of [
      ["what is the capital of france?", "what is the capital of france"],
      ["write a short poem about the sea", "write a short poem about the sea."],
      [
        "请用简单的语言解释一下量子计算机的工作原理和它的主要用途",
        "请用简单的语言解释一下量子计算机的工作原理和它的主要用途。",
      ],
      ["日本の首都はどこですか。簡単に説明してください", "日本の首都はどこですか。簡単に説明してください。"],
      ["ช่วยอธิบายเรื่องนี้ให้ฉันฟังหน่อยได้ไหมครับ", "ช่วยอธิบายเรื่องนี้ให้ฉันฟังหน่อยได้ไหม"],
    ] as const) {
      assert.deepStrictEqual((await findAll([one, other]))[1]!, [0], other)
    }
    for (const [one, other] of [
      ["write a poem about cats", "write a poem about dogs"],
      ["what is 12 + 30?", "what is 12 + 31?"],
      ["写一首关于猫的诗", "写一首关于狗的诗"],
    ] as const) {
      assert.deepStrictEqual((await findAll([one, other]))[1]!, [], other)
    }
  })

  describe("in a thread", () => {
    const characters = Array.from("abcdefghij     ....ÄÖß\u0130éﬀ字漢あ한ﷺ\u200b\u0301😀")
    const { below, word } = words(7)
    const scramble = () => Array.from({ length: below(200) }, () => characters[below(characters.length)]!).join("")
    const texts: Array<string> = []
    for (let i = 0; i < 5_000; i++) {
      const known = texts[below(i)]
      texts.push(known === undefined || i % 3 > 0 ? `${scramble()} ${word()}` : edited(known, below(4), below))
    }
    const search = (isInThread: boolean, prompts: ReadonlyArray<string>, chunk: number) =>
      Effect.runPromise(
        Effect.gen(function* () {
          const index = yield* NearDuplicates.make()
          const all: Array<Uint32Array> = []
          for (const part of Arr.chunksOf(prompts, chunk)) {
            yield* addAll(index, part)
            all.push(yield* index.earliest)
          }
          return all
        }).pipe(Effect.scoped, Effect.provideService(Threads, isInThread ? "always" : "never")),
      )

    it.each([
      ["too few for a thread", 300, 300],
      ["one batch in the thread", 2_304, 2_304],
      ["one batch and a prompt in the thread", 2_305, 2_305],
      ["thousands, of which the last batch is not complete", 5_000, 5_000],
      ["more after a search", 5_000, 2_400],
      ["fewer than a batch at a time", 2_800, 200],
    ])("finds the same: %s", async (_, count, chunk) => {
      const prompts = texts.slice(0, count)
      const found = await search(true, prompts, chunk)
      assert.deepStrictEqual(found, await search(false, prompts, chunk))
      const last = found.at(-1)!
      assert.strictEqual(last.length, count)
      if (count > 1_000) assert.isAbove(last.filter((first, i) => first !== i).length, 100)
    })

    it("finds the same of any texts, also of those that are larger than a batch", async () => {
      const prompts = [...hostile, ...hostile]
      const found = await search(true, prompts, 3)
      assert.deepStrictEqual(found, await search(false, prompts, 3))
      const normal = prompts.map(NormalizedPrompt.ofText)
      assert.deepStrictEqual(
        [...found.at(-1)!],
        normal.map((text) => normal.indexOf(text)),
      )
    })

    it("has the records of the normal forms, in order", async () => {
      const records = await Effect.runPromise(
        Effect.gen(function* () {
          const signatures = yield* Signatures.make(yield* ScratchFile.temporary())
          for (const text of texts) signatures.add(text)
          yield* signatures.flush
          assert.strictEqual(signatures.count(), texts.length)
          return texts.map((_, ordinal) => {
            const bytes = new Uint8Array(MinHash.signatureBytes)
            signatures.read(ordinal, bytes)
            return bytes
          })
        }).pipe(Effect.scoped, Effect.provideService(Threads, "always")),
      )
      assert.deepStrictEqual(
        records,
        texts.map((text) => signature(NormalizedPrompt.ofText(text))),
      )
    })
  })
})
