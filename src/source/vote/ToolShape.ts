import { isObject, type Members } from "../../io/Values.ts"

export interface Shape {
  readonly name: string
  readonly is: (record: Members) => boolean
  /** Whether the shape applies only to text cells. */
  readonly isTextual?: true
  /** The result has the item's parts as top-level members with known names, and the list `votes`. */
  readonly toRecord: (record: Members) => Members
}

export const objects = (value: unknown): ReadonlyArray<Members> => (Array.isArray(value) ? value.filter(isObject) : [])
export const object = (value: unknown): Members => (isObject(value) ? value : {})

export const isRationale = (question: string) => /rationale|reason|explan|comment|justif|feedback|why/i.test(question)
