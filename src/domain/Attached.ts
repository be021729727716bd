/**
 * Attaches a hidden value to an object, but not to its copies. A large `WeakMap` would slow down garbage collection.
 */
export interface Attached<A, To extends object> {
  /** Throws a `TypeError` if the object already has another value. */
  readonly set: (object: To, value: A) => void
  readonly of: (object: To) => A | undefined
}

export const make = <A, To extends object>(): Attached<A, To> => {
  const key = Symbol("attached")
  return {
    // The property is not enumerable, so a spread and `Object.assign` leave it out.
    set: (object, value) => void Object.defineProperty(object, key, { value }),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `set` has the key
    of: (object) => Reflect.get(object, key) as A | undefined,
  }
}
