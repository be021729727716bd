/** Computes the records of prompts for `Signatures`. It runs in a thread, so its imports must not load Effect. */
import type { Stage } from "../../node/Thread.ts"
import * as MinHash from "./MinHash.ts"
import * as NormalizedPrompt from "./NormalizedPrompt.ts"

/** A prompt's record begins with the hash of its normal form. The MinHash signature follows. */
export const hashBytes = 8
export const recordBytes = hashBytes + MinHash.signatureBytes

export const start = (): Stage<ReadonlyArray<string>, Uint8Array<ArrayBuffer>> => (prompts) => {
  const records = new Uint8Array(prompts.length * recordBytes)
  const view = new DataView(records.buffer)
  for (const [i, prompt] of prompts.entries()) {
    const at = i * recordBytes
    const normal = NormalizedPrompt.ofText(prompt)
    view.setBigUint64(at, BigInt(`0x${NormalizedPrompt.hash(normal)}`))
    MinHash.write(normal, records, at + hashBytes)
  }
  return { answer: records, transfer: [records.buffer] }
}
