/** Schemas for texts that every file format can represent and that are not blank. */
import { Schema } from "effect"

/** A text that UTF-8 can represent unchanged, because it has no lone surrogates. */
export const WellFormedText = Schema.String.check(
  Schema.makeFilter((text) =>
    text.isWellFormed() ? undefined : "expected well-formed Unicode, found a lone surrogate",
  ),
)

export const isBlank = (text: string): boolean => text.trim() === ""

export const blankIssue = "expected text, found a blank string"

export const notBlank = Schema.makeFilter<string>((text) => (isBlank(text) ? blankIssue : undefined))

export const NonBlankText = WellFormedText.check(notBlank)

/** Counts code points, in the same way as JSON Schema counts characters. */
export const charactersOf = (text: string): number =>
  text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)
