/** What an annotation tool writes, and what its shapes share. */
import { isObject } from "../../io/Values.ts"

export type Members = { readonly [member: string]: unknown }

export interface Shape {
  /** For people. */
  readonly name: string
  readonly is: (record: Members) => boolean
  /** Set where only cells of text are rewritten. */
  readonly isTextual?: true
  /** The record with the item's parts at its top, and `votes`. Members are as the layouts know them. */
  readonly toRecord: (record: Members) => Members
}

export const objects = (value: unknown): ReadonlyArray<Members> => (Array.isArray(value) ? value.filter(isObject) : [])
export const object = (value: unknown): Members => (isObject(value) ? value : {})

/** Whether a question's or tag's name says that it is about the choice. */
export const isRationale = (question: string) => /rationale|reason|explan|comment|justif|feedback|why/i.test(question)
