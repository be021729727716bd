import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as zlib from "node:zlib"
import * as Decompress from "../../src/node/Decompress.ts"
import { effectTest } from "../support/effectTest.ts"

const test = effectTest(it.effect)

/** Output until the decoder wants more, or ends. */
const drain = Effect.fnUntraced(function* (decoder: Decompress.Decoder) {
  const parts: Array<Uint8Array> = []
  while (true) {
    const step = yield* decoder.next
    if (step._tag !== "Output") return { step, output: Buffer.concat(parts).toString() }
    parts.push(step.bytes)
  }
})

const packed = {
  deflate: zlib.deflateRawSync("text"),
  brotli: zlib.brotliCompressSync("text"),
  zstd: zlib.zstdCompressSync("text"),
}

describe("Decompress", () => {
  it.effect.each(["deflate", "brotli"] as const)("%s: says which bytes of a write come behind its end", (method) =>
    Effect.gen(function* () {
      const decoder = Decompress.make(method)
      decoder.write(packed[method].subarray(0, 3))
      const first = yield* drain(decoder)
      assert.deepStrictEqual(first.step, Decompress.Step.NeedsInput())
      decoder.write(Buffer.concat([packed[method].subarray(3), Buffer.from("behind")]))
      const second = yield* drain(decoder)
      assert.strictEqual(first.output + second.output, "text")
      assert.strictEqual(second.step._tag === "Ended" ? Buffer.from(second.step.unused).toString() : "", "behind")
      decoder.close()
    }),
  )

  test("zstd: frames one after the other are read by one decoder", function* () {
    const decoder = Decompress.make("zstd")
    for (let i = 0; i < 3; i++) {
      decoder.write(packed.zstd)
      assert.deepStrictEqual(yield* drain(decoder), { step: Decompress.Step.NeedsInput(), output: "text" })
    }
    decoder.close()
    decoder.close()
  })

  test("what is cut short, or none of the method's, is damaged", function* () {
    const cut = Decompress.make("brotli")
    cut.write(packed.brotli.subarray(0, -1))
    yield* drain(cut)
    cut.end()
    assert.strictEqual((yield* Effect.flip(drain(cut)))._tag, "CorruptData")
    for (const method of ["deflate", "brotli", "zstd"] as const) {
      const decoder = Decompress.make(method)
      decoder.write(Buffer.alloc(100, 0xff))
      assert.strictEqual((yield* Effect.flip(drain(decoder)))._tag, "CorruptData")
    }
  })

  // The check value of CRC-32/ISO-HDLC in the catalog of parametrized CRC algorithms (reveng.sourceforge.io).
  it("the checksum of 123456789, in pieces", () => {
    const [first, second] = [Buffer.from("1234"), Buffer.from("56789")]
    assert.strictEqual(Decompress.crc32(second, Decompress.crc32(first, 0)), 0xcbf43926)
  })
})
