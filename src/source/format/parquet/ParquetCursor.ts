/**
 * A column of a row group, value after value, over the pages that were added to it.
 *
 * Guarantees: a null is where the levels say so; what is asked for beyond the pages throws `Damage`.
 */
import { Damage, damaged } from "./ParquetDamage.ts"
import type { Page } from "./ParquetPage.ts"
import type { Leaf } from "./ParquetSchema.ts"
import { Unusable } from "./ParquetValues.ts"

/**
 * The memory that pages of a row group may need at once, in bytes: pages are small, or few of them are large,
 * but in files that were made to fill it.
 */
const heldMax = 2 * 1024 ** 3

/** The values that lists of a row may have, in a column. */
export const elementsMax = 4_000_000

/** What the columns of a row group have in common while a row is put together. */
export interface Tally {
  /** Characters of text since it was set to 0. */
  characters: number
  /** Elements of lists in this row. */
  elements: number
  /** Bytes of memory that pages have, or will have when they are decoded. */
  held: number
  /** For what the row is refused. */
  unusable: { readonly path: string; readonly value: Unusable } | undefined
  /** Of which a value is being decoded. */
  cursor: Cursor | undefined
}

export class Cursor {
  readonly leaf: Leaf
  readonly #tally: Tally
  readonly #pages: Array<Page> = []
  #page: Page | undefined
  /** In the page's levels. */
  #at = 0
  /** Records that begin in the pages added so far. */
  #begun = 0
  #isWhole = false
  /** Values that were added, and not read. */
  #ahead = 0

  constructor(leaf: Leaf, tally: Tally) {
    this.leaf = leaf
    this.#tally = tally
  }

  /** Called before a page is decoded. */
  hold(bytes: number): void {
    this.#tally.held += bytes
    if (this.#tally.held > heldMax) damaged("the pages that are needed at once fill more than 2 GiB")
  }

  add(page: Page): void {
    if (page.count === 0) return
    this.#ahead += page.count
    this.#begun += page.records
    if (this.#begun === 0) throw this.damage("its first page begins in the middle of a row")
    if (this.#page === undefined) this.#page = page
    else this.#pages.push(page)
  }

  /** There are no more pages. */
  end(): void {
    this.#isWhole = true
  }

  get isWhole(): boolean {
    return this.#isWhole
  }

  /** How many rows of the group can be read, those that were read included. The last list may go on in the next page. */
  get rows(): number {
    return this.#isWhole || this.leaf.repeat === 0 ? this.#begun : Math.max(this.#begun - 1, 0)
  }

  /** Values that can be read. */
  get ahead(): number {
    return this.#ahead
  }

  get isAtEnd(): boolean {
    return this.#page === undefined
  }

  /** Of the next value. */
  get definition(): number {
    const page = this.#page
    if (page === undefined) throw this.damage("it ends before its rows do")
    return page.definitions === undefined ? this.leaf.definition : page.definitions[this.#at]!
  }

  /** Of the next value; 0 at the end. */
  get repetition(): number {
    return this.#page?.repetitions?.[this.#at] ?? 0
  }

  next(): unknown {
    const isNull = this.definition < this.leaf.definition
    const { next } = this.#page!
    this.#move()
    if (isNull) return null
    this.#tally.cursor = this
    const value = next()
    this.#tally.cursor = undefined
    if (typeof value === "string") this.#tally.characters += value.length
    else if (value instanceof Unusable) {
      this.#tally.unusable ??= { path: this.leaf.path, value }
      return null
    }
    return value
  }

  /** Passes over the null by which this column says that what it is in is not there. */
  skip(definition: number): void {
    if (this.definition >= definition) throw this.damage("its levels do not fit those of the columns beside it")
    this.#move()
  }

  #move(): void {
    this.#ahead--
    if (++this.#at < this.#page!.count) return
    this.#tally.held -= this.#page!.cost
    this.#page = this.#pages.shift()
    this.#at = 0
  }

  damage(problem: string): Damage {
    return new Damage({ problem: `column "${this.leaf.path}": ${problem}` })
  }
}
