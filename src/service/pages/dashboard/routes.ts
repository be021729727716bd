/** The dashboard's routes, which are the part of the address after `#`. `parse` reads all that `href` returns. */
import { maxLength } from "../../pageApi/PageConstants.ts"
import { searchOf } from "../shared/api.ts"

const paths = {
  overview: "overview",
  tasks: "tasks",
  task: "tasks/:id",
  group: "groups/:id",
  items: "items",
  adjudicate: "items/adjudicate",
  queue: "queue",
  experts: "experts",
  expert: "experts/:id",
  operators: "operators",
  audit: "audit",
  account: "account",
  developer: "developer",
  delivery: "developer/deliveries/:id",
} as const

export type Page = keyof typeof paths

export interface Query {
  readonly [name: string]: string | undefined
  /** The page of a list starts with the newest row whose number is lower than this. */
  readonly before?: string | undefined
}

export interface Route {
  readonly page: Page | "set-up" | "unknown"
  /** The id of the object that the page shows, or the code of a sign-in link. Empty on pages without an id. */
  readonly id: string
  readonly query: Query
}

const unknown: Route = { page: "unknown", id: "", query: {} }

/** The members of a query that must be positive integers. Other values of these members are dropped. */
const integers = new Set(["before", "after", "prompt"])

const queryOf = (search: string): Query =>
  Object.fromEntries(
    [...new URLSearchParams(search)].flatMap(([name, value]) =>
      value === "" || (integers.has(name) && !/^[1-9]\d{0,14}$/.test(value))
        ? []
        : [[name, value.slice(0, maxLength.filter)]],
    ),
  )

const decode = (text: string): string | undefined => {
  // `decodeURIComponent` throws on an invalid escape, such as `%x`.
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

export const parse = (hash: string): Route => {
  const text = hash.replace(/^#/, "")
  const code = /^set-up=(.+)$/.exec(text)?.[1]
  if (code !== undefined) {
    const id = decode(code)
    return id === undefined ? unknown : { page: "set-up", id, query: {} }
  }
  const [path = "", search = ""] = text.split("?", 2)
  const segments = path.split("/").filter((segment) => segment !== "")
  if (segments.length === 0) segments.push("overview")
  for (const [page, pattern] of Object.entries(paths)) {
    const parts = pattern.split("/")
    if (parts.length !== segments.length) continue
    if (!parts.every((part, i) => part === ":id" || part === segments[i])) continue
    const id = parts.at(-1) === ":id" ? decode(segments.at(-1) ?? "") : ""
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `page` is a key of `paths`
    if (id !== undefined) return { page: page as Page, id, query: queryOf(search) }
  }
  return unknown
}

type Place<P extends Page> = {
  readonly [name: string]: string | number | undefined
} & ((typeof paths)[P] extends `${string}:id` ? { readonly id: string } : unknown)

/** Returns the address of a page. `place` has the `id` of the object to show. Its other members become the query. */
export const href = <P extends Page>(
  page: P,
  ...[place]: (typeof paths)[P] extends `${string}:id` ? [Place<P>] : [Place<P>?]
): string => {
  const { id = "", ...query } = { ...place }
  return `#/${paths[page].replace(":id", encodeURIComponent(id))}${searchOf(query)}`
}

/** Returns a key that identifies a view. The focus moves only when the key changes. */
export const placeOf = ({ id, page }: Route): string => `${page} ${id}`
