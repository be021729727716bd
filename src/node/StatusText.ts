/** Adapter: the names of HTTP's status codes, as Node knows them. */
import { STATUS_CODES } from "node:http"

/** Such as `402 Payment Required`; the number alone where it has no name. */
export const statusText = (status: number): string =>
  STATUS_CODES[status] === undefined ? String(status) : `${status} ${STATUS_CODES[status]}`
