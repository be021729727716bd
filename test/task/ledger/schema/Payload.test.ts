import { assert, describe, it } from "@effect/vitest"
import * as Payload from "../../../../src/task/ledger/schema/Payload.ts"

describe("Payload", () => {
  it.each(["", "(", "{}", "naïve 😀 \0", "\uFEFFmarked", "x".repeat(1_000_000)])(
    "text comes back, packed and not",
    (text) => {
      const open = Payload.encode(text)
      assert.strictEqual(Payload.decode(open), text)
      const packed = Payload.pack(open)
      assert.strictEqual(Payload.decode(packed), text)
      assert.deepStrictEqual(Payload.pack(packed), packed)
      assert.strictEqual(Buffer.from(packed).toString("hex", 0, 4), Payload.packedPrefix)
    },
  )
})
