/** Cuts the bytes into chunks of the given sizes, again and again. */
export const cut = (bytes: Uint8Array, sizes: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!
    chunks.push(bytes.slice(at, at + size))
    at += size
  }
  return chunks
}
