/** Datasets that differ in known ways: each pair counts once, and nothing else counts. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { Effect, type Schema, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import { difficultPairs, pair } from "../support/pairs.ts"
import { replaceFile, test, written } from "./support.ts"

const dataset = (pairs: ReadonlyArray<PreferencePair>, options: Omit<Dataset.Options, "directory"> = {}) =>
  Effect.map(written(pairs, { allowEmpty: true, ...options }), ({ directory }) => directory)

const numbers = Array.from({ length: 300 }, (_, i) => i)

const flipped = (one: PreferencePair): PreferencePair => ({
  ...one,
  chosen: one.rejected,
  rejected: one.chosen,
  chosen_index: one.rejected_index,
  rejected_index: one.chosen_index,
})

const countsOf = ({ added, changed, flipped, gone, same }: Dataset.DatasetDiff) => ({
  same,
  changed: changed.pairs,
  flipped: flipped.pairs,
  gone: gone.pairs,
  added: added.pairs,
})

const none = { same: 0, changed: 0, flipped: 0, gone: 0, added: 0 }

const splitOf = ({ item_id }: PreferencePair): Dataset.Split => (item_id.endsWith("7") ? "test" : "train")

describe("Dataset.diff", () => {
  test("gives each pair its own reason, in any order of an item's rows, and none by an ignored column", function* () {
    const one = { ...pair(1), agreement: 1, vote_margin: 1, votes: 3 }
    const other = { ...one, rejected: "another rejected text", rejected_index: 2 }
    const a = yield* dataset([pair(2), { ...one, rationale: "x" }, { ...other, vote_margin: 0.5 }])
    const b = yield* dataset([pair(3), { ...other, vote_margin: 0.7 }, { ...one, rationale: "y" }, pair(2)])
    const diff = yield* Dataset.diff(a, b)
    assert.deepStrictEqual(diff.changed.reasons, { unknown: 1, other_votes: 1 })
    const ignoring = yield* Dataset.diff(a, b, { ignore: ["votes", "vote_margin", "agreement"] })
    assert.deepStrictEqual(ignoring.changed.reasons, { unknown: 1 })
  })

  test("finds each planted difference, whatever the order of rows, shards, and splits", function* () {
    const a = yield* dataset(numbers.map((i) => pair(i)), { splitOf }) // prettier-ignore
    const others = numbers.flatMap((i) => {
      const one = pair(i)
      if (i % 50 === 1) return [flipped(one)]
      if (i % 50 === 2) return [{ ...one, rationale: "other", strength: 9 }]
      if (i % 50 === 3) return []
      if (i % 50 === 4) return [one, pair(1000 + i)]
      if (i % 50 === 5) return [flipped({ ...one, votes: one.votes + 1 })]
      return [one]
    })
    const b = yield* dataset(others.toReversed(), {
      shardBytes: 20_000,
      splitOf: (one) => (one.item_id === "item-17" ? "train" : splitOf(one)),
    })
    const diff = yield* Dataset.diff(a, b, { show: 100 })
    assert.deepStrictEqual(countsOf(diff), { same: 300 - 12 - 7 - 6, changed: 7, flipped: 12, gone: 6, added: 6 })
    assert.deepStrictEqual(diff.columns, { rationale: 6, strength: 6, split: 1 })
    assert.deepStrictEqual(diff.flipped.reasons, { unknown: 6, new_votes: 6 })
    const ids = (kind: Dataset.DiffKind) => diff[kind].examples.map(({ item_id }) => item_id).toSorted()
    const planted = (n: number, from = 0) => numbers.filter((i) => i % 50 === n).map((i) => `item-${from + i}`).toSorted() // prettier-ignore
    assert.deepStrictEqual(ids("flipped"), [...planted(1), ...planted(5)].toSorted())
    assert.deepStrictEqual(ids("gone"), planted(3))
    assert.deepStrictEqual(ids("added"), planted(4, 1000))
    assert.deepStrictEqual(ids("changed"), ["item-17", ...planted(2)].toSorted())
    // Each example names the line of its pair.
    for (const { a: one, b: other, item_id } of [...diff.flipped.examples, ...diff.changed.examples]) {
      for (const [directory, place] of [
        [a, one],
        [b, other],
      ] as const) {
        const [file, number] = place!.split(":")
        const line = readFileSync(`${directory}/${file}`, "utf8").split("\n")[Number(number) - 1]!
        assert.strictEqual(JSON.parse(line).item_id, item_id)
      }
    }
    const split = diff.changed.examples.find(({ item_id }) => item_id === "item-17")
    assert.deepStrictEqual(split?.changes, { split: { a: "test", b: "train" } })
    const back = yield* Dataset.diff(b, a, { show: 0 })
    assert.deepStrictEqual(countsOf(back), countsOf(diff))
    assert.deepStrictEqual(back.flipped, { pairs: 12, reasons: { unknown: 6, fewer_votes: 6 }, examples: [] })
  })

  test("an item of several pairs: another choice flips one, and replaces the others", function* () {
    const item = (best: string, rest: ReadonlyArray<string>) =>
      rest.map((rejected) => pair(1, { chosen: best, rejected, weight: 1 / 2 }))
    const a = yield* dataset([...item("x", ["y", "z"]), pair(2), pair(2)])
    const diff = yield* Dataset.diff(a, yield* dataset([...item("y", ["x", "z"]), pair(2)]))
    assert.deepStrictEqual(countsOf(diff), { same: 1, changed: 0, flipped: 1, gone: 2, added: 1 })
  })

  test("texts that formats spoil are equal, in both shapes; ignored columns and equal files do not count", function* () {
    const a = yield* dataset(difficultPairs)
    const b = yield* dataset(difficultPairs, { conversational: true })
    const c = yield* dataset(difficultPairs.map((one) => ({ ...one, task_id: "other" })))
    const d = yield* dataset(difficultPairs, { tools: true })
    const all = { ...none, same: (yield* Dataset.manifest(a)).rows }
    for (const other of [a, b]) {
      const diff = yield* Dataset.diff(a, other)
      assert.deepStrictEqual([countsOf(diff), diff.differs], [all, false])
    }
    assert.deepStrictEqual((yield* Dataset.diff(a, c, { taskIds: true })).columns, { task_id: all.same })
    assert.isFalse((yield* Dataset.diff(a, c)).differs)
    const column = yield* Dataset.diff(a, d)
    assert.deepStrictEqual([column.only_in, countsOf(column), column.differs], [{ a: [], b: ["tools"] }, all, true])
    const gone = yield* Dataset.diff(a, yield* dataset([]))
    assert.deepStrictEqual(countsOf(gone), { ...none, gone: all.same })
  })

  test("explains gone items by their outcomes, and votes by experts who count no more", function* () {
    const a = yield* dataset(numbers.slice(0, 6).map((i) => pair(i)))
    const b = yield* dataset([flipped(pair(0)), pair(5)])
    const outcome = (i: number, lost: string | null, cause: string | null = null) => ({
      itemId: `item-${i}`,
      lost,
      cause,
    })
    const diff = yield* Dataset.diff(a, b, {
      outcomesA: Stream.make(
        outcome(0, null, "vote_no_longer_counted"),
        outcome(1, null, "vote_no_longer_counted"),
        outcome(2, null, "vote_no_longer_counted"),
      ),
      outcomesB: Stream.make(outcome(0, null), outcome(1, "tie"), outcome(2, "near_duplicate"), outcome(3, "flagged")),
    })
    assert.deepStrictEqual(diff.flipped.reasons, { vote_no_longer_counted: 1 })
    assert.deepStrictEqual(diff.gone.reasons, {
      vote_no_longer_counted: 1,
      near_duplicate: 1,
      flagged: 1,
      not_in_job: 1,
    })
  })

  test("explains what the votes do not by columns of the input, and by settings that decide pairs", function* () {
    const before = { votes: 1, ties: "drop", min_votes: 1, margin: false, splits: null }
    const one = pair(1)
    const a = yield* dataset([one], { facts: { settings: before } })
    const diffOf = Effect.fnUntraced(function* (
      to: PreferencePair,
      settings: { readonly [name: string]: Schema.Json },
    ) {
      const b = yield* dataset([to], { facts: { settings: { ...before, ...settings } } })
      const { changed, flipped } = yield* Dataset.diff(a, b)
      return { ...changed.reasons, ...flipped.reasons }
    })
    for (const members of [{ prompt: "other" }, { chosen_index: 5 }, { rejected_model: null }, { metadata: "{}" }])
      assert.deepStrictEqual(yield* diffOf({ ...one, ...members }, { ties: "keep" }), { other_input: 1 })
    assert.deepStrictEqual(yield* diffOf({ ...one, metadata: "{}", rationale: "x" }, {}), { other_votes: 1 })
    const rest = { votes: 2, margin: true, splits: { test: 0.1, seed: 0 }, expert_names: true }
    assert.deepStrictEqual(yield* diffOf(flipped(one), rest), { other_votes: 1 })
    assert.deepStrictEqual(yield* diffOf(flipped(one), { ...rest, ties: "keep" }), { other_ties: 1 })
    assert.deepStrictEqual(yield* diffOf(flipped(one), { ties: "keep", min_votes: 2 }), { other_settings: 1 })
  })

  test("fails where a file is missing, changed, or not of pairs", function* () {
    const path = "jsonl/train-00000-of-00001.jsonl"
    const a = yield* dataset([pair(1), pair(2)])
    const b = yield* dataset([pair(1)])
    const text = readFileSync(`${a}/${path}`, "utf8")
    const failure = Effect.map(Effect.flip(Dataset.diff(a, b)), ({ message }) => message)
    appendFileSync(`${a}/${path}`, text)
    assert.match(yield* failure, /train-00000-of-00001\.jsonl: expected the SHA-256 \w+ of the manifest, found /)
    const spoil = (content: string) => replaceFile(a, path, content)
    spoil(text.replace('"item_id"', '"item"'))
    assert.match(yield* failure, /row 1: expected a preference pair, found a row without item_id/)
    spoil(text.replace("}\n", "\n"))
    assert.match(yield* failure, /row 1: expected a preference pair, found /)
    writeFileSync(`${a}/manifest.json`, "{}")
    assert.match(yield* failure, /manifest\.json: expected a dataset manifest, found /)
  })
})
