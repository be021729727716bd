/**
 * A file's schema, from the footer's flat list to the tree by which rows are put together.
 *
 * Guarantees: lists and maps are told from structs by the rules that the format gives for files of all
 * ages; names are unique among siblings, so that no column hides another.
 *
 * https://github.com/apache/parquet-format/blob/master/LogicalTypes.md (Lists, Maps)
 */
import { Array } from "effect"
import type { SchemaElement } from "hyparquet"
import { damaged } from "./ParquetDamage.ts"
import { type Conversion, conversionOf } from "./ParquetValues.ts"

interface Place {
  readonly name: string
  /** For messages, and as column chunks have it: `completions.list.element`. */
  readonly path: string
  readonly repetition: "REQUIRED" | "OPTIONAL" | "REPEATED"
  /** The definition level from which on it is there. */
  readonly definition: number
  /** The repetition level of what follows in the same list, if it is in one. */
  readonly repeat: number
  /** The columns that hold it; of a leaf, itself. */
  readonly leaves: ReadonlyArray<Leaf>
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
  readonly repeated: Node
  readonly key: Node
  readonly value: Node | undefined
}

export type Node = Leaf | Struct | List | Dictionary

export interface Schema {
  readonly fields: ReadonlyArray<Node>
  readonly leaves: ReadonlyArray<Leaf>
}

const depthMax = 64

/** @throws Damage */
export const make = (elements: ReadonlyArray<SchemaElement>): Schema => {
  const leaves: Array<Leaf> = []
  let next = 1

  const children = (element: SchemaElement, parent: Omit<Place, "leaves" | "repetition" | "name">, depth: number) => {
    const nodes: Array<Node> = []
    const count = element.num_children ?? 0
    if (depth > depthMax || count > elements.length) damaged("its schema is damaged")
    while (nodes.length < count) nodes.push(node(parent, depth))
    if (new Set(nodes.map(({ name }) => name)).size < count) {
      damaged(`it has two columns of one name${parent.path === "" ? "" : ` in "${parent.path}"`}`)
    }
    return nodes
  }

  const node = (parent: Omit<Place, "leaves" | "repetition" | "name">, depth: number): Node => {
    const element = elements[next++] ?? damaged("its schema is damaged")
    const { name, repetition_type: repetition } = element
    if (typeof name !== "string" || repetition === undefined) return damaged("its schema is damaged")
    const place = {
      name,
      repetition,
      path: parent.path === "" ? name : `${parent.path}.${name}`,
      definition: parent.definition + (repetition === "REQUIRED" ? 0 : 1),
      repeat: parent.repeat + (repetition === "REPEATED" ? 1 : 0),
    }
    if (!element.num_children) return leaf(element, place)
    const first = leaves.length
    const nodes = children(element, place, depth + 1)
    return group(element, { ...place, leaves: leaves.slice(first) }, nodes)
  }

  const leaf = (element: SchemaElement, place: Omit<Place, "leaves">): Leaf => {
    if (element.type === undefined) return damaged(`its schema is damaged at "${place.path}"`)
    const width = element.type === "INT96" ? 12 : (element.type_length ?? 0)
    if (element.type === "FIXED_LEN_BYTE_ARRAY" && !(width > 0)) damaged(`its schema is damaged at "${place.path}"`)
    const made: Leaf = {
      kind: "leaf",
      ...place,
      index: leaves.length,
      type: element.type,
      width,
      conversion: conversionOf(element),
      get leaves() {
        return [made]
      },
    }
    leaves.push(made)
    return made
  }

  const root = elements[0] ?? damaged("its schema is damaged")
  const fields = children(root, { path: "", definition: 0, repeat: 0 }, 0)
  if (next !== elements.length) damaged("its schema is damaged")
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
    return { kind: "map", ...place, repeated, key: repeated.fields[0]!, value: repeated.fields[1] }
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
export const select = (schema: Schema, names: ReadonlyArray<string> | undefined): ReadonlyArray<Node> =>
  names === undefined ? schema.fields : Array.filter(schema.fields, ({ name }) => names.includes(name))
