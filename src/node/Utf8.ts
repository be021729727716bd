/** Adapter: Node's check of UTF-8, which copies nothing. */
import { isUtf8 } from "node:buffer"

export const isValid = (bytes: Uint8Array): boolean => isUtf8(bytes)
