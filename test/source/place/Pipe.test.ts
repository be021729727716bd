import { Readable } from "node:stream"
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { fromReadable, StandardInput } from "../../../src/node/IncomingBytes.ts"
import * as Pipe from "../../../src/source/place/Pipe.ts"
import * as Place from "../../../src/source/place/Place.ts"
import * as Spool from "../../../src/source/place/Spool.ts"
import { bytesOf, failureOf, pattern, test as live } from "./support.ts"

/** With standard input of one's own, that comes in pieces of 50,000 bytes. */
const withInput =
  (content: Uint8Array) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provideService(
      effect,
      StandardInput,
      fromReadable(() =>
        Readable.from(
          Array.from({ length: Math.ceil(content.length / 50_000) }, (_, i) =>
            content.slice(i * 50_000, (i + 1) * 50_000),
          ),
          { objectMode: false },
        ),
      ),
    )

const test = (name: string, content: Uint8Array, body: Parameters<typeof live>[1]) =>
  live(name, function* () {
    yield* withInput(content)(Effect.gen(body))
  })

const large = pattern(Pipe.memoryLimitBytes + 200_000)

describe("standard input", () => {
  const content = pattern(200_000)
  test("is called so, and can be looked at before it is read", content, function* () {
    const head = yield* Effect.scoped(
      Effect.flatMap(Place.open("-"), ({ bytes }) => Stream.runCollect(Stream.take(bytes, 1))),
    )
    assert.deepStrictEqual(new Uint8Array(head[0]!), content.slice(0, head[0]!.length))
    for (const name of ["-", "/dev/stdin"]) {
      const input = yield* Place.open(name)
      assert.strictEqual(input.name, "standard input")
      assert.strictEqual(input.slice, undefined)
      assert.deepStrictEqual(yield* bytesOf(input), content)
    }
  })

  test("may be empty", new Uint8Array(0), function* () {
    const input = yield* Place.open("-")
    assert.strictEqual((yield* bytesOf(input)).length, 0)
    assert.strictEqual((yield* bytesOf(input)).length, 0)
  })

  test("that was looked at is read on, however large; to read it anew is a failure then", large, function* () {
    const input = yield* Place.open("-")
    yield* Stream.runDrain(Stream.take(input.bytes, 3))
    assert.deepStrictEqual(yield* bytesOf(input), large)
    assert.match(
      yield* failureOf(bytesOf(input)),
      /^standard input: cannot be read: more than 16 MiB of the pipe were read, .*save it to a file first$/,
    )
  })

  live("that breaks is a failure", function* () {
    const broken = fromReadable(() => {
      const readable = new Readable({ read: () => {} })
      readable.push("{}\n")
      setImmediate(() => readable.destroy(new Error("read EIO")))
      return readable
    })
    const input = yield* Effect.provideService(Place.open("-"), StandardInput, broken)
    assert.match(yield* failureOf(bytesOf(input)), /^standard input: cannot be read: read EIO$/)
  })
})

describe("a spool", () => {
  test("makes of a pipe what is read here and there, and as often as one likes", large, function* () {
    const read = Effect.gen(function* () {
      const input = yield* Spool.toFile(yield* Place.open("-"))
      assert.strictEqual(input.name, "standard input")
      assert.strictEqual(input.size, large.length)
      assert.deepStrictEqual(yield* input.slice!(large.length - 1000, large.length), large.slice(-1000))
      assert.deepStrictEqual(yield* bytesOf(input), large)
    })
    yield* Effect.scoped(read)
    yield* Effect.scoped(read)
  })

  test("leaves alone what has slices, and keeps the failures of what it copies", large, function* () {
    const sliced = { name: "a", size: 0, bytes: Stream.empty, slice: () => Effect.succeed(new Uint8Array(0)) }
    assert.strictEqual(yield* Spool.toFile(sliced), sliced)
    const failing = yield* Place.open("-")
    yield* bytesOf(failing)
    assert.match(yield* failureOf(Spool.toFile(failing)), /^standard input: .*save it to a file first$/)
  })
})
