/** A growing list of numbers in one typed array. `push` does not check that a number fits the array's type. */
type Numbers = Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>

type Kind<A extends Numbers> = new (buffer: ArrayBuffer, offset?: number, length?: number) => A

const firstBytes = 8192

export const make = <A extends Numbers>(Kind: Kind<A>) => {
  let values = new Kind(new ArrayBuffer(firstBytes))
  let length = 0
  return {
    push: (value: number): void => {
      if (length === values.length) values = new Kind(values.buffer.transfer(2 * values.byteLength))
      values[length++] = value
    },
    length: (): number => length,
    /** The view is not a copy: read it before the next `push`. */
    view: (): A => new Kind(values.buffer, 0, length),
  }
}

export const firstFrom = (sorted: ArrayLike<number>, value: number): number => {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
