/**
 * Converts the footer's flat schema to a tree, and to schemas for `hyparquet`. These schemas name the columns `c1`,
 * `c2`, …, because `hyparquet` loses members called `__proto__`. They omit annotations by which `hyparquet` would
 * change values. For example, `hyparquet` reads decimals as doubles.
 * https://github.com/apache/parquet-format/blob/master/LogicalTypes.md (Lists, Maps)
 */
import { Array } from "effect"
import type { SchemaElement } from "hyparquet"
import { corrupt } from "./CorruptFile.ts"
import { type Conversion, conversionOf } from "./Values.ts"

interface Place {
  readonly name: string
  readonly key: string
  readonly path: string
  readonly keys: ReadonlyArray<string>
  readonly repetition: "REQUIRED" | "OPTIONAL" | "REPEATED"
  readonly maxDefinition: number
  readonly maxRepetition: number
}

export interface Leaf extends Place {
  readonly kind: "leaf"
  readonly index: number
  readonly type: Exclude<SchemaElement["type"], undefined>
  readonly width: number
  readonly conversion: Conversion
}

export interface Struct extends Place {
  readonly kind: "struct"
  readonly fields: ReadonlyArray<Node>
}

export interface List extends Place {
  readonly kind: "list"
  readonly repeated: Node
  readonly element: Node
}

export interface Dictionary extends Place {
  readonly kind: "map"
  readonly repeated: Struct
  readonly keyNode: Node
  readonly valueNode: Node | undefined
}

export type Node = Leaf | Struct | List | Dictionary

export interface Field {
  readonly node: Node
  readonly leaves: ReadonlyArray<Leaf>
  readonly elements: Array<SchemaElement>
}

export interface Schema {
  readonly fields: ReadonlyArray<Field>
  readonly leaves: ReadonlyArray<Leaf>
}

const maxDepth = 64
const maxWidth = 1 << 20

type Parent = Pick<Place, "path" | "keys" | "maxDefinition" | "maxRepetition">

export const make = (elements: ReadonlyArray<SchemaElement>): Schema => {
  const leaves: Array<Leaf> = []
  const elementsForHyparquet: Array<SchemaElement> = []
  let next = 1

  const childrenOf = <A>({ num_children: count = 0 }: SchemaElement, { path }: Parent, child: () => A): Array<A> => {
    if (count > elements.length) corrupt("the schema is damaged")
    const names = new Set<string>()
    const children: Array<A> = []
    while (children.length < count) {
      names.add(elements[next]?.name ?? "")
      children.push(child())
    }
    if (names.size < count) corrupt(`two columns have the same name${path === "" ? "" : ` in "${path}"`}`)
    return children
  }

  const node = (parent: Parent, depth: number): Node => {
    const element = elements[next] ?? corrupt("the schema is damaged")
    // Some writers, such as Arrow's, omit the `repetition_type` of required columns.
    const { name, repetition_type: repetition = "REQUIRED" } = element
    if (typeof name !== "string" || depth > maxDepth) return corrupt("the schema is damaged")
    const key = `c${next}`
    const place: Place = {
      name,
      key,
      repetition,
      path: parent.path === "" ? name : `${parent.path}.${name}`,
      keys: [...parent.keys, key],
      maxDefinition: parent.maxDefinition + (repetition === "REQUIRED" ? 0 : 1),
      maxRepetition: parent.maxRepetition + (repetition === "REPEATED" ? 1 : 0),
    }
    elementsForHyparquet[next++] = { name: key, repetition_type: repetition }
    if (!element.num_children) return leaf(element, place)
    elementsForHyparquet[next - 1]!.num_children = element.num_children
    return group(
      element,
      place,
      childrenOf(element, place, () => node(place, depth + 1)),
    )
  }

  const leaf = (element: SchemaElement, place: Place): Leaf => {
    const { type, type_length: length = 0 } = element
    const isWidthSound = type !== "FIXED_LEN_BYTE_ARRAY" || (length > 0 && length <= maxWidth)
    if (type === undefined || !isWidthSound) return corrupt(`the schema is damaged at "${place.path}"`)
    const conversion = conversionOf(element)
    Object.assign(elementsForHyparquet[next - 1]!, { type, type_length: length, ...conversion.annotation })
    const leafNode: Leaf = {
      kind: "leaf",
      ...place,
      index: leaves.length,
      type,
      width:
        { INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8, INT96: 12, BOOLEAN: 0, BYTE_ARRAY: 0 }[type as string] ?? length,
      conversion,
    }
    leaves.push(leafNode)
    return leafNode
  }

  const root = elements[0] ?? corrupt("the schema is damaged")
  const parent: Parent = { path: "", keys: [], maxDefinition: 0, maxRepetition: 0 }
  const fields = childrenOf(root, parent, (): Field => {
    const first = { element: next, leaf: leaves.length }
    return {
      node: node(parent, 0),
      leaves: leaves.slice(first.leaf),
      elements: [{ name: "root", num_children: 1 }, ...elementsForHyparquet.slice(first.element, next)],
    }
  })
  if (next !== elements.length) corrupt("the schema is damaged")
  return { fields, leaves }
}

const group = (element: SchemaElement, place: Place, nodes: ReadonlyArray<Node>): Node => {
  const annotation = element.logical_type?.type ?? element.converted_type
  const repeated = nodes.length === 1 && nodes[0]!.repetition === "REPEATED" ? nodes[0]! : undefined
  if (repeated !== undefined && annotation === "LIST") {
    return { kind: "list", ...place, repeated, element: elementOf(repeated, place.name) }
  }
  const isMap = annotation === "MAP" || annotation === "MAP_KEY_VALUE"
  if (repeated?.kind === "struct" && isMap && repeated.fields.length <= 2) {
    return { kind: "map", ...place, repeated, keyNode: repeated.fields[0]!, valueNode: repeated.fields[1] }
  }
  return { kind: "struct", ...place, fields: nodes }
}

/**
 * Returns the node for the elements of a list. In the current format of lists, this node is the child of `repeated`. In
 * old formats, this node is `repeated` (Parquet's `LogicalTypes.md`, Backward-compatibility).
 */
const elementOf = (repeated: Node, list: string): Node => {
  const isWrapper =
    repeated.kind === "struct" &&
    repeated.fields.length === 1 &&
    repeated.fields[0]!.repetition !== "REPEATED" &&
    repeated.name !== "array" &&
    repeated.name !== `${list}_tuple`
  return isWrapper ? repeated.fields[0]! : repeated
}

export const select = (schema: Schema, names: ReadonlyArray<string> | undefined): ReadonlyArray<Field> =>
  names === undefined ? schema.fields : Array.filter(schema.fields, ({ node }) => names.includes(node.name))
