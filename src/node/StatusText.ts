/** Adapter: HTTP reason phrases, loaded when needed, because `node:http` also loads Node's `fetch`. */
import { getBuiltinModule } from "node:process"

export const statusText = (status: number): string => {
  const phrase = getBuiltinModule("node:http").STATUS_CODES[status]
  return phrase === undefined ? String(status) : `${status} ${phrase}`
}
