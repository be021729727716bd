import { assert, describe, it } from "@effect/vitest"
import * as Zstd from "../../src/node/Zstd.ts"

describe("Zstd", () => {
  it.each([0, 1, 255, 256, 257, 65_791, 65_792, 4 * 1024 * 1024 + 1])("%d bytes come back", (length) => {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * i) % 251)
    assert.isTrue(Buffer.from(bytes).equals(Zstd.decompress(Zstd.compress(bytes))))
  })

  it("more than the limit is refused", () => {
    const compressed = Zstd.compress(Buffer.from("x".repeat(1_000)))
    assert.strictEqual(Zstd.decompress(compressed, 1_000).length, 1_000)
    assert.throws(() => Zstd.decompress(compressed, 999), RangeError)
  })

  it("a few bytes that claim to be gigabytes are refused", () => {
    const bomb = Zstd.compress(new Uint8Array(300 * 1024 * 1024))
    assert.isBelow(bomb.length, 100_000)
    assert.throws(() => Zstd.decompress(bomb), RangeError)
    assert.throws(() => Zstd.decompressText(bomb), RangeError)
  })

  it("what isn't Zstandard is refused", () => {
    assert.throws(() => Zstd.decompress(new TextEncoder().encode("no frame of Zstandard")))
  })
})
