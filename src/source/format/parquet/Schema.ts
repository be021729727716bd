/**
 * A file's schema: from the footer's flat list to a tree, and to the part of it that `hyparquet` is given.
 *
 * Guarantees: lists and maps are distinguished from structs by the format's rules for files of all ages; names are
 * unique among siblings. `hyparquet` gets names of our own (`c1`), because it loses members called `__proto__`,
 * and no annotations, because it reads decimals as doubles and refuses intervals: see `Rows` and `Values`.
 *
 * https://github.com/apache/parquet-format/blob/master/LogicalTypes.md (Lists, Maps)
 */
import { Array } from "effect"
import type { SchemaElement } from "hyparquet"
import { corrupt } from "./CorruptFile.ts"
import { type Conversion, conversionOf } from "./Values.ts"

interface Place {
  readonly name: string
  /** What it is called for `hyparquet`. */
  readonly key: string
  /** For messages, and as column chunks have it: `completions.list.element`. */
  readonly path: string
  readonly keys: ReadonlyArray<string>
  readonly repetition: "REQUIRED" | "OPTIONAL" | "REPEATED"
  /** Of its values: the highest definition and repetition level. */
  readonly maxDefinition: number
  readonly maxRepetition: number
}

export interface Leaf extends Place {
  readonly kind: "leaf"
  /** Its number among the columns. */
  readonly index: number
  readonly type: Exclude<SchemaElement["type"], undefined>
  /** In bytes, of a value of fixed length. */
  readonly width: number
  readonly conversion: Conversion
}

export interface Struct extends Place {
  readonly kind: "struct"
  readonly fields: ReadonlyArray<Node>
}

export interface List extends Place {
  readonly kind: "list"
  /** What repeats: the element itself, or a group around it. */
  readonly repeated: Node
  readonly element: Node
}

/** A map; without values, a set. */
export interface Dictionary extends Place {
  readonly kind: "map"
  readonly repeated: Struct
  readonly keyNode: Node
  readonly valueNode: Node | undefined
}

export type Node = Leaf | Struct | List | Dictionary

/** A top-level column. */
export interface Field {
  readonly node: Node
  readonly leaves: ReadonlyArray<Leaf>
  /** The schema of a table that has this column alone. */
  readonly elements: Array<SchemaElement>
}

export interface Schema {
  readonly fields: ReadonlyArray<Field>
  readonly leaves: ReadonlyArray<Leaf>
}

const maxDepth = 64
const maxWidth = 1 << 20

type Parent = Pick<Place, "path" | "keys" | "maxDefinition" | "maxRepetition">

/** @throws CorruptFile */
export const make = (elements: ReadonlyArray<SchemaElement>): Schema => {
  const leaves: Array<Leaf> = []
  const renamed: Array<SchemaElement> = []
  let next = 1

  const childrenOf = <A>({ num_children: count = 0 }: SchemaElement, { path }: Parent, child: () => A): Array<A> => {
    if (count > elements.length) corrupt("its schema is damaged")
    const names = new Set<string>()
    const children: Array<A> = []
    while (children.length < count) {
      names.add(elements[next]?.name ?? "")
      children.push(child())
    }
    if (names.size < count) corrupt(`it has two columns of one name${path === "" ? "" : ` in "${path}"`}`)
    return children
  }

  const node = (parent: Parent, depth: number): Node => {
    const element = elements[next] ?? corrupt("its schema is damaged")
    // Some writers leave out the repetition of what is required, as for Arrow.
    const { name, repetition_type: repetition = "REQUIRED" } = element
    if (typeof name !== "string" || depth > maxDepth) return corrupt("its schema is damaged")
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
    renamed[next++] = { name: key, repetition_type: repetition }
    if (!element.num_children) return leaf(element, place)
    renamed[next - 1]!.num_children = element.num_children
    return group(
      element,
      place,
      childrenOf(element, place, () => node(place, depth + 1)),
    )
  }

  const leaf = (element: SchemaElement, place: Place): Leaf => {
    const { type, type_length: length = 0 } = element
    const isWidthSound = type !== "FIXED_LEN_BYTE_ARRAY" || (length > 0 && length <= maxWidth)
    if (type === undefined || !isWidthSound) return corrupt(`its schema is damaged at "${place.path}"`)
    const conversion = conversionOf(element)
    Object.assign(renamed[next - 1]!, { type, type_length: length, ...conversion.annotation })
    const made: Leaf = {
      kind: "leaf",
      ...place,
      index: leaves.length,
      type,
      width:
        { INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8, INT96: 12, BOOLEAN: 0, BYTE_ARRAY: 0 }[type as string] ?? length,
      conversion,
    }
    leaves.push(made)
    return made
  }

  const root = elements[0] ?? corrupt("its schema is damaged")
  const parent: Parent = { path: "", keys: [], maxDefinition: 0, maxRepetition: 0 }
  const fields = childrenOf(root, parent, (): Field => {
    const first = { element: next, leaf: leaves.length }
    return {
      node: node(parent, 0),
      leaves: leaves.slice(first.leaf),
      elements: [{ name: "root", num_children: 1 }, ...renamed.slice(first.element, next)],
    }
  })
  if (next !== elements.length) corrupt("its schema is damaged")
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

/** Older writers repeat the element itself; the names tell. */
const elementOf = (repeated: Node, list: string): Node => {
  const isWrapper =
    repeated.kind === "struct" &&
    repeated.fields.length === 1 &&
    repeated.fields[0]!.repetition !== "REPEATED" &&
    repeated.name !== "array" &&
    repeated.name !== `${list}_tuple`
  return isWrapper ? repeated.fields[0]! : repeated
}

/** Fields by their names, in the file's order; all where none are named. */
export const select = (schema: Schema, names: ReadonlyArray<string> | undefined): ReadonlyArray<Field> =>
  names === undefined ? schema.fields : Array.filter(schema.fields, ({ node }) => names.includes(node.name))
