/**
 * A value that belongs to an object, where nobody sees it: a copy of the object has none. Cheaper than a `WeakMap`, each entry of which
 * takes time in every collection of garbage.
 */

/** A constructor that gives the object that it is given: a class that extends it adds its private fields to that. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a function is a constructor
const Given = function (object: object) {
  return object
} as unknown as new (object: object) => object

export interface Attached<A, To extends object> {
  /** Once for each object. */
  readonly set: (object: To, value: A) => void
  readonly of: (object: To) => A | undefined
}

export const make = <A, To extends object>(): Attached<A, To> => {
  class Holder extends Given {
    #value: A

    constructor(object: object, value: A) {
      super(object)
      this.#value = value
    }

    static of(object: object): A | undefined {
      return #value in object ? object.#value : undefined
    }
  }
  return {
    set: (object, value) => void new Holder(object, value),
    of: (object) => Holder.of(object),
  }
}
