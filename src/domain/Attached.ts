/**
 * A value that belongs to an object, where nobody sees it: a copy of the object has none. Cheaper than a `WeakMap`, each entry of which
 * takes time in every collection of garbage.
 */
export interface Attached<A, To extends object> {
  /** Once for each object. */
  readonly set: (object: To, value: A) => void
  readonly of: (object: To) => A | undefined
}

export const make = <A, To extends object>(): Attached<A, To> => {
  const key = Symbol("attached")
  return {
    // Not enumerable: a spread and `Object.assign` leave it out.
    set: (object, value) => void Object.defineProperty(object, key, { value }),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `set` has the key
    of: (object) => Reflect.get(object, key) as A | undefined,
  }
}
