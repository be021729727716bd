/** The shape of an annotation tool's records, and helpers for all shapes. */
import { isObject, type Members } from "../../io/Values.ts"

export interface Shape {
  readonly name: string
  readonly is: (record: Members) => boolean
  readonly isTextual?: true
  readonly toRecord: (record: Members) => Members
}

export const objects = (value: unknown): ReadonlyArray<Members> => (Array.isArray(value) ? value.filter(isObject) : [])
export const object = (value: unknown): Members => (isObject(value) ? value : {})

export const isRationale = (question: string) => /rationale|reason|explan|comment|justif|feedback|why/i.test(question)
