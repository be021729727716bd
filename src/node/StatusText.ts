/**
 * Adapter: the status texts of `node:http`, such as `404 Not Found`. An import would load `node:http` and Node's
 * `fetch` at every start, which takes time. `getBuiltinModule` loads them when the first text is needed.
 */
import { getBuiltinModule } from "node:process"

export const statusText = (status: number): string => {
  const phrase = getBuiltinModule("node:http").STATUS_CODES[status]
  return phrase === undefined ? String(status) : `${status} ${phrase}`
}
