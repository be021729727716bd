/** The kinds of experts of a task's votes: where they are read, and as which an item is paid. */
import { Option } from "effect"
import { assert, describe, it } from "vitest"
import * as Cost from "../../../../src/domain/Cost.ts"
import * as Prices from "../../../../src/domain/Prices.ts"
import * as VoteKinds from "../../../../src/task/ledger/schema/VoteKinds.ts"

const prices = Option.getOrThrow(Prices.parse({ default: "0.40", judge: "0.01", specialist: 2.5 }))

const paid = (annotations: ReadonlyArray<unknown>, path = "kind", asks = 1) => {
  const text = VoteKinds.reader(path)(
    annotations.map((annotations) => ({ annotations })),
    asks,
  )
  return text === null ? null : VoteKinds.paidAs(text, prices).map(({ kind, votes }) => `${votes} ${kind}`)
}

describe("the kinds of a task's votes", () => {
  it("are those of the listed votes, else that of the result; a vote without one has the result's", () => {
    assert.deepStrictEqual(
      paid([
        { votes: [{ kind: "judge" }] },
        { kind: "judge" },
        { kind: "person", votes: [{ expert: "ann" }] },
        { votes: [] },
        {},
        undefined,
      ]),
      ["2 judge", "1 person", "3 null"],
    )
  })

  it("are the dearest of an item's votes, an unknown one at the price of others", () => {
    const kinds = (...names: ReadonlyArray<unknown>) => ({ votes: names.map((kind) => ({ kind })) })
    assert.deepStrictEqual(paid([kinds("judge", "specialist", "person")]), ["1 specialist"])
    assert.deepStrictEqual(paid([kinds("judge", null)]), ["1 null"])
    assert.deepStrictEqual(paid([kinds("person", "judge", "crowd")]), ["1 crowd"])
  })

  it("are each paid for if the task asks for several; missing ones have the kind of the result, if it has one, and of too many all are the dearest", () => {
    const kinds = (...names: ReadonlyArray<unknown>) => ({ votes: names.map((kind) => ({ kind })) })
    const asking3 = (annotations: unknown) => paid([annotations, annotations], "kind", 3)
    assert.deepStrictEqual(asking3(kinds("judge", "specialist", "judge")), ["4 judge", "2 specialist"])
    assert.deepStrictEqual(asking3(kinds("judge")), ["2 judge", "4 null"])
    assert.deepStrictEqual(asking3({ ...kinds("specialist"), kind: "judge" }), ["4 judge", "2 specialist"])
    assert.deepStrictEqual(asking3({ kind: "judge" }), ["6 judge"])
    assert.deepStrictEqual(asking3(kinds("judge", "judge", "judge", "specialist")), ["6 specialist"])
    assert.isNull(asking3(kinds(null, null, null)))
  })

  it("are read at a path, and unknown where it leads nowhere, or to something else than a short text", () => {
    const votes = [{ annotator: { role: "judge" } }]
    assert.deepStrictEqual(paid([{ votes }], "annotator.role"), ["1 judge"])
    assert.isNull(paid([{ votes }], "annotator.level"))
    assert.isNull(paid([{ votes }, "text", 3, null, { votes: "all" }]))
    for (const kind of [7, "", "  ", { name: "judge" }, ["judge"], "x".repeat(101)]) {
      assert.isNull(paid([{ votes: [{ kind }] }]), JSON.stringify(kind))
    }
  })

  it("have the same text in whatever order results name them", () => {
    const read = VoteKinds.reader("kind")
    const one = read([{ annotations: { kind: "a" } }, { annotations: { votes: [{ kind: "c" }, { kind: "b" }] } }])
    const other = read([{ annotations: { votes: [{ kind: "b" }, { kind: "c" }] } }, { annotations: { kind: "a" } }])
    assert.strictEqual(one, other)
  })
})

describe("prices", () => {
  it("need one for votes of other kinds, and each an amount above zero", () => {
    for (const price of [{ judge: 1 }, { default: 0 }, { default: 1, judge: "1e3" }, { default: 1, " ": 2 }]) {
      assert.isTrue(Option.isNone(Prices.parse(price as Prices.Price)), JSON.stringify(price))
    }
  })

  it("are the same text, however they are ordered, and the highest is that of any", () => {
    const same = Option.getOrThrow(Prices.parse({ specialist: "2.5", default: "0.40", judge: "0.01" }))
    assert.strictEqual(Prices.encode(same), Prices.encode(prices))
    assert.deepStrictEqual(Prices.decode(Prices.encode(prices)), Prices.decode(Prices.encode(same)))
    assert.strictEqual(Cost.format(Prices.highest(prices)), "2.5")
    assert.strictEqual(Cost.format(Prices.highest(Option.getOrThrow(Prices.parse({ default: 3, judge: 1 })))), "3")
  })

  it("may be of kinds with any name", () => {
    const odd = Option.getOrThrow(Prices.parse(JSON.parse('{"default":1,"__proto__":2,"constructor":3,"7":4}')))
    const again = Prices.decode(Prices.encode(odd))
    for (const [kind, price] of [
      ["__proto__", "2"],
      ["constructor", "3"],
      ["7", "4"],
      ["toString", "1"],
    ] as const) {
      assert.strictEqual(Cost.format(Prices.priceOf(again, kind)), price, kind)
    }
  })
})
