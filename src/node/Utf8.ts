/** Adapter: Node's UTF-8 check, which does not copy the bytes. */
import { isUtf8 } from "node:buffer"

export const isValid = (bytes: Uint8Array): boolean => isUtf8(bytes)
