/**
 * Rows, put together from columns: the assembly of records in Melnik et al. (2010), "Dremel: Interactive
 * Analysis of Web-Scale Datasets", as a descent through the schema instead of a finite-state machine.
 *
 * Guarantees: members are own members, whatever their names; a list that is null and one that is empty
 * stay two things; columns that disagree about a row's shape are `Damage`.
 */
import { type Cursor, elementsMax, type Tally } from "./ParquetCursor.ts"
import { damaged } from "./ParquetDamage.ts"
import type { List, Dictionary, Node, Struct } from "./ParquetSchema.ts"

type Read = () => unknown

/** @param cursorOf of a column, by its number */
export const reader = (
  fields: ReadonlyArray<Node>,
  cursorOf: (index: number) => Cursor,
  tally: Tally,
): (() => Record<string, unknown>) => {
  const value = (node: Node): Read => {
    if (node.repetition === "REPEATED") return repeated(node, content(node))
    return node.repetition === "OPTIONAL" && node.kind !== "leaf" ? optional(node, content(node)) : content(node)
  }

  /** Of what is there. */
  const content = (node: Node): Read => {
    if (node.kind === "leaf") {
      const cursor = cursorOf(node.index)
      return () => cursor.next()
    }
    if (node.kind === "struct") return struct(node)
    return node.kind === "list" ? list(node) : map(node)
  }

  const optional = ({ leaves, definition }: Node, read: Read): Read => {
    const [first = damaged("its schema is damaged"), ...others] = cursors(leaves)
    return () => {
      if (first.definition >= definition) return read()
      first.skip(definition)
      for (const cursor of others) cursor.skip(definition)
      return null
    }
  }

  const repeated = <A>({ leaves, definition, repeat }: Node, read: () => A): (() => Array<A>) => {
    const [first = damaged("its schema is damaged"), ...others] = cursors(leaves)
    return () => {
      const elements: Array<A> = []
      if (first.definition < definition) {
        first.skip(definition)
        for (const cursor of others) cursor.skip(definition)
        return elements
      }
      do {
        if (++tally.elements > elementsMax) throw first.damage(`a row has more than ${elementsMax} values in lists`)
        elements.push(read())
        for (const cursor of others) {
          if (cursor.repetition !== first.repetition) {
            throw cursor.damage("its levels do not fit those of the columns beside it")
          }
        }
      } while (first.repetition === repeat)
      return elements
    }
  }

  const struct = ({ fields }: Pick<Struct, "fields">): (() => Record<string, unknown>) => {
    const members = fields.map((field) => ({ name: field.name, read: value(field) }))
    return () => {
      const members_: Record<string, unknown> = {}
      for (const { name, read } of members) setMember(members_, name, read())
      return members_
    }
  }

  const list = ({ repeated: node, element }: List): Read =>
    repeated(node, element === node ? content(element) : value(element))

  const map = ({ repeated: node, key, value: valueNode }: Dictionary): Read => {
    const readKey = value(key)
    const readValue = valueNode === undefined ? () => null : value(valueNode)
    const entries = repeated(node, () => [String(readKey()), readValue()] as const)
    return () => {
      const members: Record<string, unknown> = {}
      for (const [name, member] of entries()) setMember(members, name, member)
      return members
    }
  }

  const cursors = (leaves: Node["leaves"]) => leaves.map(({ index }) => cursorOf(index))

  const read = struct({ fields })
  const lists = fields
    .flatMap(({ leaves }) => leaves)
    .filter(({ repeat }) => repeat > 0)
    .map(({ index }) => cursorOf(index))
  return () => {
    tally.elements = 0
    tally.unusable = undefined
    const row = read()
    for (const cursor of lists) {
      if (cursor.repetition !== 0) throw cursor.damage("its levels do not fit those of the columns beside it")
    }
    return row
  }
}

const setMember = (members: Record<string, unknown>, name: string, value: unknown): void => {
  if (name !== "__proto__") members[name] = value
  else Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true })
}
