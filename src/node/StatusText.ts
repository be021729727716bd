/**
 * Adapter: the reason phrases of HTTP status codes, from `node:http`, asked for when one is needed: its `import` would
 * load Node's `fetch` too.
 */
import { getBuiltinModule } from "node:process"

/** `402 Payment Required`; only the number if the status has no reason phrase. */
export const statusText = (status: number): string => {
  const phrase = getBuiltinModule("node:http").STATUS_CODES[status]
  return phrase === undefined ? String(status) : `${status} ${phrase}`
}
