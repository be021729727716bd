/**
 * Adapter: the reason phrases of HTTP status codes, from `node:http`. The module is loaded only when a phrase is
 * needed, because its `import` would also load Node's `fetch`.
 */
import { getBuiltinModule } from "node:process"

/** A text such as `402 Payment Required`; only the number if the status has no reason phrase. */
export const statusText = (status: number): string => {
  const phrase = getBuiltinModule("node:http").STATUS_CODES[status]
  return phrase === undefined ? String(status) : `${status} ${phrase}`
}
