import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { datasetFlags } from "../../src/cli/flags/DatasetFlags.ts"
import type { Manifest } from "../../src/dataset/Manifest.ts"
import { bestAgainstOne } from "../../src/pair/PairStrategy.ts"
import {
  type DatasetSettings,
  settingNames,
  toManifest,
  validate,
  wholeShares,
} from "../../src/pipeline/DatasetSettings.ts"
import * as ManifestSettings from "../../src/pipeline/ManifestSettings.ts"
import { test } from "../source/support.ts"

/** As a program may have them that no compiler has seen. */
const unchecked = (settings: object) => settings as DatasetSettings

describe("settings of a dataset", () => {
  test.each<readonly [object, RegExp]>([
    [
      { thresholds: { "longr-chosen": 0.6 } },
      /^thresholds: expected one of longer-chosen, .*, found longr-chosen \(did you mean longer-chosen\?\)$/,
    ],
    [{ thresholds: { "longer-chosen": 65 } }, /^thresholds\.longer-chosen: expected a number from 0 to 1, found 65$/],
    [{ thresholds: { kappa: Number.NaN } }, /^thresholds\.kappa: expected a number from -1 to 1, found NaN$/],
    [{ drop: ["length-effect"] }, /^drop: expected one of near-duplicates, /],
    [{ formats: ["openrlfh"] }, /^formats: expected one of trl, .*, found "?openrlfh"? \(did you mean openrlhf\?\)$/],
    [{ minVotes: 0 }, /^minVotes: expected 1 or more, found 0$/],
    [{ minAgreement: 67 }, /^minAgreement: expected a share from 0 to 1, found 67$/],
    [{ aggregate: "mean" }, /^aggregate: expected one of majority, dawid-skene, jury, found mean$/],
    [{ ties: "split" }, /^ties: expected drop or keep, found split$/],
    [{ marginFrom: "vote" }, /^marginFrom: expected votes or strength, found vote$/],
    [{ edited: "rejected" }, /^edited: expected chosen or none, found rejected$/],
    [{ annotationPaths: { rationle: "a" } }, /^annotationPaths: expected one of .*rationale.*, found rationle$/],
    [{ annotationPaths: { rationale: "a[" } }, /^annotationPaths\.rationale: expected a field path, found a\[$/],
    [{ evaluationPrompts: [] }, /^evaluationPrompts: expected at least one prompt, found an empty list$/],
    [{ splits: { test: 1.2 } }, /test/],
    [{ splits: { train: 0.5, test: 0.1 } }, /add up to 1/],
  ])("%o are refused with their name", function* ([settings, expected]) {
    assert.match((yield* Effect.flip(validate(unchecked(settings)))).message, expected)
  })

  it.effect("that can be followed are not", () =>
    validate({
      thresholds: { "length-effect": 0.5, kappa: -1, contamination: 0 },
      drop: ["near-duplicates"],
      formats: ["verl"],
      annotationPaths: { rationale: "a[0].b", flags: undefined },
      splits: { test: 0.1, validation: 0.05 },
    }),
  )

  it("give train what is left over", () => {
    assert.deepStrictEqual(wholeShares({ test: 0.1, validation: 0.05 }), { test: 0.1, validation: 0.05, train: 0.85 })
    assert.deepStrictEqual(wholeShares({ test: 1 }), { test: 1 })
    assert.deepStrictEqual(wholeShares({ train: undefined, test: 0.1 }), { train: 0.9, test: 0.1 })
  })

  it("tell the manifest of edits only if they replace the chosen completions", () => {
    assert.strictEqual(toManifest({ edited: "chosen" })["edited"], "chosen")
    assert.notProperty(toManifest({ edited: "none" }), "edited")
  })

  it("have flags of the same names", () =>
    assert.deepStrictEqual(
      settingNames.filter((name) => !Object.hasOwn(datasetFlags, name)),
      // `--threshold`, none, `--split`, `--annotation-path`, `--format`, and `--title` with `--license`.
      ["thresholds", "checks", "splits", "annotationPaths", "formats", "card"],
    ))

  /** None has its default value. */
  const changed = {
    pairs: bestAgainstOne(3), aggregate: "jury", ties: "keep", minVotes: 2, minAgreement: 0.5, drop: ["flagged"],
    splits: { test: 0.1, train: 0.9 }, splitSeed: 5, splitBy: "user", conversational: true, margin: true,
    marginFrom: "strength", edited: "chosen", expertNames: true, annotationPaths: { strength: "a.b" },
  } as const satisfies DatasetSettings // prettier-ignore
  const readBack = (settings: object) => {
    const manifest = { formats: [], shape: "conversational", settings: JSON.parse(JSON.stringify(settings)) }
    return ManifestSettings.of(manifest as unknown as Manifest)
  }
  const recorded = { campaign: 1, ...toManifest(changed) }

  test("are read back from the manifest, all that change rows", function* () {
    const { pairs, ...others } = changed
    const read = yield* readBack(recorded)
    assert.deepInclude(read, others)
    assert.deepStrictEqual(read.pairs?.settings, pairs.settings)
    assert.isUndefined((yield* readBack({ campaign: null, ...toManifest({}) })).minVotes)
    const names = new Set<string>(Object.keys(changed))
    assert.deepStrictEqual(
      settingNames.filter((name) => !names.has(name)),
      ["thresholds", "checks", "evaluationPrompts", "formats", "allowEmpty", "card"],
    )
  })

  test.each(Object.keys(recorded).filter((name) => !["thresholds", "conversational"].includes(name)))(
    "fail with the name of the member if %s has a wrong value in the manifest",
    function* (name) {
      const { message } = yield* Effect.flip(readBack({ ...recorded, [name]: [{ x: [] }] }))
      assert.include(message, `at ["${name}"]`)
    },
  )
})
