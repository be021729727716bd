import { assert, it } from "@effect/vitest"
import * as localCopies from "../../../../src/service/pages/annotate/localCopies.ts"

const memory = () => {
  const map = new Map<string, string>()
  const store: localCopies.Store = {
    getItem: (key) => map.get(key) ?? null,
    setItem: (key, value) => void map.set(key, value),
    removeItem: (key) => void map.delete(key),
    key: (index) => [...map.keys()][index] ?? null,
    get length() {
      return map.size
    },
  }
  return { map, kept: localCopies.make(() => store) }
}

const draft = { mode: "rank", best: null, ranking: [[1], [], [0]], rationale: "why", seconds: 3 } as const
const day = 86_400_000

it("finds a copy by expert and item only", () => {
  const { kept } = memory()
  kept.keep("expert_a", 1, draft, 0)
  assert.deepStrictEqual(kept.read("expert_a", 1), draft)
  assert.isNull(kept.read("expert_b", 1))
  assert.isNull(kept.read("expert_a", 11))
  kept.forget("expert_a", 1)
  assert.isNull(kept.read("expert_a", 1))
})

it("restores answers of any type, such as a text of a later version", () => {
  const { kept } = memory()
  const assessment = { strength: 2, all_bad: false, flags: [], edit: null, aspects: {}, mood: "calm", tags: ["a", 1] }
  kept.keep("e", 1, { ...draft, assessment }, 0)
  assert.deepStrictEqual(kept.read("e", 1), { ...draft, assessment })
})

it("forgets what is older than a week, and what it can't read, and leaves other entries alone", () => {
  const { kept, map } = memory()
  map.set("other", "x")
  map.set("prefstream.draft.e.9", "{")
  kept.keep("e", 1, draft, 0)
  kept.keep("e", 2, draft, 5 * day)
  kept.forgetOld(8 * day)
  assert.deepStrictEqual([...map.keys()], ["other", "prefstream.draft.e.2"])
  kept.forgetAll()
  assert.deepStrictEqual([...map.keys()], ["other"])
})

it("takes nothing that is not a draft", () => {
  const { kept, map } = memory()
  for (const value of ["", "null", "{}", '{"at":1,"draft":{}}', '{"at":1,"draft":{"mode":"best","best":-1}}']) {
    map.set("prefstream.draft.e.1", value)
    assert.isNull(kept.read("e", 1), value)
  }
})

it("works without a store", () => {
  const refuse = () => {
    throw new Error("refused")
  }
  const kept = localCopies.make(refuse)
  kept.keep("e", 1, draft, 0)
  kept.forget("e", 1)
  kept.forgetAll()
  kept.forgetOld(0)
  assert.isNull(kept.read("e", 1))
})
