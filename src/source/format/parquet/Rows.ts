/** Converts assembled values of `hyparquet` to rows of JSON values. A null list and an empty list remain different. */
import { corrupt } from "./CorruptFile.ts"
import type { Node } from "./Schema.ts"
import { Unusable } from "./Values.ts"

const maxElements = 4_000_000

export interface RowState {
  elements: number
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
    // `hyparquet` returns null for an empty list of leaves.
    if (values === null && kind === "leaf") return []
    if (!Array.isArray(values)) return corrupt(`column "${path}": its levels do not match those of other columns`)
    state.elements += values.length
    if (state.elements > maxElements) corrupt(`column "${path}": a row has more than ${maxElements} list elements`)
    return values.map(read)
  }

const content = (node: Node, state: RowState): Read => {
  const { path } = node
  switch (node.kind) {
    case "leaf": {
      const { convert } = node.conversion
      return (value) => {
        if (value === null) return null
        if (value === undefined) return corrupt(`column "${path}": a page is damaged: a value is missing`)
        const converted = convert(value)
        if (!(converted instanceof Unusable)) return converted
        state.unusable ??= { path, value: converted }
        return null
      }
    }
    case "struct": {
      const members = node.fields.map((field) => ({ name: field.name, key: field.key, read: reader(field, state) }))
      return (value) => {
        return Object.fromEntries(members.map(({ name, key, read }) => [name, read(memberOf(value, key))]))
      }
    }
    case "list": {
      const { repeated: wrapper, element } = node
      const read = element === wrapper ? content(element, state) : readMember(reader(element, state), element.key)
      const elements = repeated(wrapper, read, state)
      return (value) => elements(memberOf(value, wrapper.key))
    }
    case "map": {
      const { repeated: wrapper, keyNode, valueNode } = node
      const readKey = readMember(reader(keyNode, state), keyNode.key)
      const readValue = valueNode === undefined ? () => null : readMember(reader(valueNode, state), valueNode.key)
      const entries = repeated(wrapper, (entry) => [String(readKey(entry)), readValue(entry)] as const, state)
      return (value) => Object.fromEntries(entries(memberOf(value, wrapper.key)))
    }
  }
}

const memberOf = (group: unknown, key: string): unknown =>
  typeof group === "object" && group !== null ? Reflect.get(group, key) : corrupt("its nesting (levels) is damaged")

const readMember =
  (read: Read, key: string): Read =>
  (value) =>
    read(memberOf(value, key))
