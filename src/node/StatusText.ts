/**
 * Adapter: HTTP reason phrases from `node:http`, loaded when needed, because an `import` would also load Node's
 * `fetch`.
 */
import { getBuiltinModule } from "node:process"

/** Only the number if the status has no reason phrase. */
export const statusText = (status: number): string => {
  const phrase = getBuiltinModule("node:http").STATUS_CODES[status]
  return phrase === undefined ? String(status) : `${status} ${phrase}`
}
