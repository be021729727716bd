/**
 * Rows in JSON's terms, from the values that `hyparquet` put together.
 *
 * Guarantees: members are own members, whatever their names; a list that is null and one that is empty stay
 * two things; a value that is missing (not null) throws `CorruptFile`.
 */
import { corrupt } from "./CorruptFile.ts"
import type { Node } from "./Schema.ts"
import { Unusable } from "./Values.ts"

/** The values that lists of a row may have, all columns together. */
const maxElements = 4_000_000

/** What the columns of a row have in common. */
export interface RowState {
  elements: number
  /** For what the row is refused. */
  unusable: { readonly path: string; readonly value: Unusable } | undefined
}

type Read = (value: unknown) => unknown

export const reader = (node: Node, state: RowState): Read => {
  const read = content(node, state)
  if (node.repetition === "REPEATED") return repeated(node, read, state)
  return node.kind === "leaf" ? read : (value) => (value === null || value === undefined ? null : read(value))
}

const repeated =
  <A>({ kind, path }: Node, read: (value: unknown) => A, state: RowState) =>
  (values: unknown): Array<A> => {
    // Of a list without a group of its own, `hyparquet` gives null where it is empty.
    if (values === null && kind === "leaf") return []
    if (!Array.isArray(values)) return corrupt(`column "${path}": its levels do not fit those of other columns`)
    state.elements += values.length
    if (state.elements > maxElements) corrupt(`column "${path}": a row has more than ${maxElements} values in lists`)
    return values.map(read)
  }

/** Of one value that is there. */
const content = (node: Node, state: RowState): Read => {
  const { path } = node
  switch (node.kind) {
    case "leaf": {
      const { convert } = node.conversion
      return (value) => {
        if (value === null) return null
        if (value === undefined) return corrupt(`column "${path}": a page is damaged: it lacks a value`)
        const converted = convert(value)
        if (!(converted instanceof Unusable)) return converted
        state.unusable ??= { path, value: converted }
        return null
      }
    }
    case "struct": {
      const members = node.fields.map((field) => ({ name: field.name, key: field.key, read: reader(field, state) }))
      return (value) => {
        // Not by assignment: a member may be called `__proto__`.
        return Object.fromEntries(members.map(({ name, key, read }) => [name, read(memberOf(value, key))]))
      }
    }
    case "list": {
      const { repeated: wrapper, element } = node
      const read = element === wrapper ? content(element, state) : unwrapped(reader(element, state), element.key)
      const elements = repeated(wrapper, read, state)
      return (value) => elements(memberOf(value, wrapper.key))
    }
    case "map": {
      const { repeated: wrapper, keyNode, valueNode } = node
      const readKey = unwrapped(reader(keyNode, state), keyNode.key)
      const readValue = valueNode === undefined ? () => null : unwrapped(reader(valueNode, state), valueNode.key)
      const entries = repeated(wrapper, (entry) => [String(readKey(entry)), readValue(entry)] as const, state)
      return (value) => Object.fromEntries(entries(memberOf(value, wrapper.key)))
    }
  }
}

const memberOf = (group: unknown, key: string): unknown =>
  typeof group === "object" && group !== null ? Reflect.get(group, key) : corrupt("its levels are damaged")

const unwrapped =
  (read: Read, key: string): Read =>
  (value) =>
    read(memberOf(value, key))
