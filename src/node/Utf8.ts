/** Adapter: Node's UTF-8, whose check copies nothing. */
import { Buffer, isUtf8 } from "node:buffer"

export const isValid = (bytes: Uint8Array): boolean => isUtf8(bytes)

export const encode = (text: string): Uint8Array => Buffer.from(text)
