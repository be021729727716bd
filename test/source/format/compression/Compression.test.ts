import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Ref, Schema, Stream } from "effect"
import * as zlib from "node:zlib"
import * as Compression from "../../../../src/source/format/compression/Compression.ts"
import { FileUnreadable, SourceError } from "../../../../src/source/record/SourceError.ts"
import { cut } from "../support.ts"
import { test } from "../../support.ts"

const bytesOf = (text: string) => Buffer.from(text)
const text = Array.from({ length: 3_000 }, (_, i) => `{"n":${i},"text":"${"żółć ".repeat(i % 17)}"}\n`).join("")

const zstdChecksum = { params: { [zlib.constants.ZSTD_c_checksumFlag]: 1 } }
const packers: Record<Compression.Compression, (bytes: Uint8Array) => Buffer> = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  zstd: (bytes) => zlib.zstdCompressSync(bytes, zstdChecksum),
  brotli: (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } }),
}
const compressions = ["gzip", "zstd", "brotli"] as const

/** What was unpacked, as text, and the problem that ended it, if any did. */
const unpack = Effect.fn(function* (
  compression: Compression.Compression,
  bytes: Uint8Array,
  size = 65_536,
  limit?: Compression.ExpansionLimit,
) {
  const parts = yield* Ref.make<ReadonlyArray<Uint8Array>>([])
  const exit = yield* Stream.fromArray(cut(bytes, [size])).pipe(
    Stream.rechunk(1),
    Compression.unpack("f", compression, limit),
    Stream.runForEach((part) => Ref.update(parts, (all) => [...all, part])),
    Effect.mapError((error) => (error.reason._tag === "FileUnreadable" ? error.reason.problem : error.message)),
    Effect.exit,
  )
  const found = Buffer.concat(yield* Ref.get(parts)).toString()
  return { found, problem: Exit.isFailure(exit) ? yield* Effect.flip(exit) : undefined }
})

/** The same, wherever the boundaries of chunks fall. */
const unpackEach = Effect.fn(function* (compression: Compression.Compression, bytes: Uint8Array) {
  const whole = yield* unpack(compression, bytes)
  for (const size of [1, 2, 3, 7, 100]) assert.deepStrictEqual(yield* unpack(compression, bytes, size), whole)
  return whole
})

const skippable = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 0x28, 0xb5, 0x2f])

describe("Compression", () => {
  it("is told by the first bytes", () => {
    assert.strictEqual(Compression.detect(packers.gzip(bytesOf(text))), "gzip")
    assert.strictEqual(Compression.detect(packers.zstd(bytesOf(text))), "zstd")
    assert.strictEqual(Compression.detect(skippable), "zstd")
    assert.isUndefined(Compression.detect(packers.brotli(bytesOf(text))))
    assert.isUndefined(Compression.detect(bytesOf(text)))
    assert.isUndefined(Compression.detect(new Uint8Array(0)))
  })

  describe.each(compressions)("%s", (compression) => {
    const pack = packers[compression]

    test("what was packed comes back", function* () {
      for (const size of [1_000_000, 65_536, 997, 13]) {
        const whole = { found: text, problem: undefined }
        assert.deepStrictEqual(yield* unpack(compression, pack(bytesOf(text)), size), whole)
      }
      for (const short of ["", "a"]) {
        const whole = { found: short, problem: undefined }
        assert.deepStrictEqual(yield* unpackEach(compression, pack(bytesOf(short))), whole)
      }
    })

    test("cut short anywhere, it gives what was whole, and says so", function* () {
      const packed = pack(bytesOf(text.slice(0, 300)))
      for (let end = 1; end < packed.length; end++) {
        for (const size of [1, 65_536]) {
          const { found, problem } = yield* unpack(compression, packed.subarray(0, end), size)
          assert.isTrue(text.startsWith(found.replace(/\uFFFD+$/, "")))
          assert.match(problem ?? "none", /data ends too early/, `${end} of ${packed.length} bytes`)
        }
      }
      const { found } = yield* unpack(compression, pack(bytesOf(text)).subarray(0, -1))
      assert.isAtLeast(found.length, compression === "brotli" ? text.length - 100 : text.length)
    })

    test("other bytes behind it are reported, not passed over", function* () {
      for (const rest of ["garbage", "g", "\n", '{"prompt":"p"}\n']) {
        const packed = Buffer.concat([pack(bytesOf("whole\n")), bytesOf(rest)])
        const { found, problem } = yield* unpackEach(compression, packed)
        assert.strictEqual(found, "whole\n")
        assert.match(problem ?? "none", /other bytes follow the .* data \(|ends too early/)
      }
    })

    test("bytes that are not its own are reported", function* () {
      const packed = pack(bytesOf(text))
      packed.fill(0xff, 30, 60)
      const { problem } = yield* unpack(compression, packed)
      assert.match(problem ?? "none", /data is damaged|has a block of an unknown type/)
    })

    test("the file's own failure comes through", function* () {
      const theirs = new SourceError({ reason: new FileUnreadable({ file: "f", problem: "gone" }) })
      const error = yield* Stream.make(pack(bytesOf(text)).subarray(0, 50)).pipe(
        Stream.concat(Stream.fail(theirs)),
        Compression.unpack("f", compression),
        Stream.runDrain,
        Effect.flip,
      )
      assert.strictEqual(error, theirs)
    })

    test("more output than the limit, and more times than the limit, is refused", function* () {
      const bomb = pack(new Uint8Array(4_000_000))
      const times = Math.floor(4_000_000 / bomb.length)
      const limit = { bytes: 2_000_000, times: times - 1 }
      const { found, problem } = yield* unpack(compression, bomb, 65_536, limit)
      assert.isAtLeast(found.length, 2_000_000 - 100_000)
      assert.match(problem ?? "none", /bytes decompress to .* times the size/)
      assert.isUndefined((yield* unpack(compression, bomb, 65_536, { ...limit, times: times + 1 })).problem)
      assert.isUndefined((yield* unpack(compression, bomb, 65_536, { ...limit, bytes: 4_000_000 })).problem)
    })

    test("nothing is unpacked that nobody asks for", function* () {
      const pulled = yield* Ref.make(0)
      const packed = pack(new Uint8Array(30_000_000))
      const first = yield* Stream.fromArray(cut(packed, [16])).pipe(
        Stream.rechunk(1),
        Stream.tap(() => Ref.update(pulled, (n) => n + 1)),
        Compression.unpack("f", compression),
        Stream.take(1),
        Stream.runCollect,
      )
      assert.isAtMost(first[0]!.length, 200_000)
      assert.isBelow(yield* Ref.get(pulled), 100)
    })
  })

  test("members and frames one after the other are all read, Brotli has but one", function* () {
    for (const compression of ["gzip", "zstd"] as const) {
      const pack = packers[compression]
      const parts = ["first\n", "", "second\n", text.slice(0, 200)]
      const packed = Buffer.concat(parts.map((part) => pack(bytesOf(part))))
      assert.deepStrictEqual(yield* unpackEach(compression, packed), { found: parts.join(""), problem: undefined })
      const broken = yield* unpackEach(compression, packed.subarray(0, -1))
      assert.strictEqual(broken.found, parts.join(""))
      assert.match(broken.problem ?? "none", /ends too early/)
    }
    const twice = Buffer.concat([packers.brotli(bytesOf("a")), packers.brotli(bytesOf("b"))])
    const { found, problem } = yield* unpackEach("brotli", twice)
    assert.strictEqual(found, "a")
    assert.match(problem ?? "none", /other bytes follow the Brotli data/)
  })

  test("gzip: every optional part of the header is passed over", function* () {
    const plain = packers.gzip(bytesOf("text"))
    for (let flags = 0; flags < 32; flags++) {
      const header = Buffer.from(plain.subarray(0, 10))
      header[3] = flags
      const optional = [
        flags & 4 ? Buffer.from([3, 0, 0, 1, 2]) : [],
        flags & 8 ? bytesOf("a name\0") : [],
        flags & 16 ? bytesOf("a comment\0") : [],
        flags & 2 ? Buffer.from([1, 2]) : [],
      ]
      const packed = Buffer.concat([header, ...optional.map((part) => Buffer.from(part)), plain.subarray(10)])
      assert.deepStrictEqual(yield* unpackEach("gzip", packed), { found: "text", problem: undefined })
      if (flags < 2) continue
      const { problem } = yield* unpack("gzip", packed.subarray(0, packed.length - plain.length + 9))
      assert.match(problem ?? "none", /ends too early/)
    }
  })

  test("gzip: zero bytes behind a member are padding, and what follows them is read", function* () {
    const one = packers.gzip(bytesOf("one\n"))
    const two = packers.gzip(bytesOf("two\n"))
    const padding = Buffer.alloc(600)
    for (const [parts, found] of [
      [[one, padding], "one\n"],
      [[one, padding, two, padding], "one\ntwo\n"],
    ] as const) {
      assert.deepStrictEqual(yield* unpackEach("gzip", Buffer.concat(parts)), { found, problem: undefined })
    }
    const { found, problem } = yield* unpackEach("gzip", Buffer.concat([one, padding, bytesOf("x")]))
    assert.strictEqual(found, "one\n")
    assert.strictEqual(problem, "other bytes follow the gzip data (78); remove them, or download the file again")
  })

  test("gzip: a wrong checksum or size is reported, after the text", function* () {
    for (const at of [1, 5]) {
      const packed = packers.gzip(bytesOf("text"))
      packed[packed.length - at]! ^= 1
      const { found, problem } = yield* unpackEach("gzip", packed)
      assert.strictEqual(found, "text")
      assert.match(problem ?? "none", /the gzip data is damaged \(the checksum differs\)/)
    }
  })

  test("zstd: a wrong checksum is reported; skippable frames are passed over, wherever they are", function* () {
    const one = packers.zstd(bytesOf("one\n"))
    const two = packers.zstd(bytesOf("two\n"))
    const packed = Buffer.concat([skippable, skippable, one, skippable, two, skippable])
    assert.deepStrictEqual(yield* unpackEach("zstd", packed), { found: "one\ntwo\n", problem: undefined })
    const short = yield* unpackEach("zstd", packed.subarray(0, -1))
    assert.strictEqual(short.found, "one\ntwo\n")
    assert.match(short.problem ?? "none", /ends too early/)
    const wrong = Buffer.concat([one, two])
    wrong[wrong.length - 1]! ^= 1
    assert.match((yield* unpack("zstd", wrong)).problem ?? "none", /the Zstandard data is damaged/)
  })

  test("zstd: frames without size or checksum, of many blocks, of blocks that repeat one byte", function* () {
    const long = Buffer.concat([Buffer.alloc(500_000, "a"), bytesOf(text), Buffer.alloc(300_000, "b")])
    for (const checksum of [0, 1]) {
      for (const level of [1, 19]) {
        const params = {
          [zlib.constants.ZSTD_c_checksumFlag]: checksum,
          [zlib.constants.ZSTD_c_contentSizeFlag]: checksum,
          [zlib.constants.ZSTD_c_compressionLevel]: level,
        }
        const packed = zlib.zstdCompressSync(long, { params })
        const { found, problem } = yield* unpack("zstd", packed, 777)
        assert.isTrue(found === long.toString())
        assert.isUndefined(problem)
        assert.match((yield* unpack("zstd", packed.subarray(0, -1))).problem ?? "none", /ends too early/)
      }
    }
  })

  test("zstd: a window that takes too much memory, and a dictionary, are refused with what to do", function* () {
    // The header of RFC 8878, 3.1.1.1: no content size, window descriptor 2^(10 + 18).
    const wide = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 18 << 3, 1, 0, 0])
    assert.strictEqual(
      (yield* unpackEach("zstd", wide)).problem,
      "the file needs 256 MiB of memory to decompress, more than 128 MiB; compress it again without --long or --ultra",
    )
    wide[5] = 17 << 3
    assert.deepStrictEqual(yield* unpackEach("zstd", wide), { found: "", problem: undefined })
    const dictionary = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x01, 0x00, 7, 1, 0, 0])
    assert.strictEqual(
      (yield* unpackEach("zstd", dictionary)).problem,
      "the file was compressed with a dictionary (number 7); compress it without one",
    )
  })

  const Flip = Schema.Struct({
    at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 })),
    byte: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 255 })),
  })
  it.effect.prop(
    "with one byte changed, gzip and zstd give the text, or an error after less or more than the text",
    [Schema.Literals(["gzip", "zstd"]), Flip],
    ([compression, { at, byte }]) =>
      Effect.gen(function* () {
        const short = text.slice(0, 5_000)
        const packed = packers[compression](bytesOf(short))
        packed[at % packed.length]! ^= byte
        const { found, problem } = yield* unpack(compression, packed)
        assert.isTrue(problem !== undefined || found === short)
      }),
  )
})
