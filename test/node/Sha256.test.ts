import { assert, describe, it } from "@effect/vitest"
import * as Sha256 from "../../src/node/Sha256.ts"

// The first two are the test vectors of FIPS 180-2.
describe("Sha256", () => {
  it.each([
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ],
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ])("%j", (text, digest) => {
    assert.strictEqual(Sha256.hex(text), digest)
    assert.strictEqual(Sha256.hex(new TextEncoder().encode(text)), digest)
  })
})
