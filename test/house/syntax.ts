/**
 * Syntax trees of TypeScript in the shape of ESTree, as far as tests of the house and the API reference read them.
 *
 * Does not check what a node's type has as members: a missing member is undefined, no nodes, or an empty name.
 */
import { parseAst } from "vite"

export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

export const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

export const nodes = (value: unknown): ReadonlyArray<Node> => (Array.isArray(value) ? value.filter(isNode) : [])

export const child = (node: Node | undefined, name: string): Node | undefined => {
  const value = node?.[name]
  return isNode(value) ? value : undefined
}

/** The name of an identifier, or the value of a text. */
export const nameOf = (node: Node | undefined): string => {
  const name = node?.["name"] ?? node?.["value"]
  return typeof name === "string" ? name : ""
}

/** The statements of a source file (`ts`, `tsx`) or a declaration file (`dts`). */
export const statementsOf = (text: string, lang: "ts" | "tsx" | "dts"): ReadonlyArray<Node> =>
  nodes((parseAst(text, { lang }) as unknown as Node)["body"])
