/** Adapter: the reason phrases of HTTP status codes, from `node:http`. */
import { STATUS_CODES } from "node:http"

/** `402 Payment Required`; only the number if the status has no reason phrase. */
export const statusText = (status: number): string =>
  STATUS_CODES[status] === undefined ? String(status) : `${status} ${STATUS_CODES[status]}`
