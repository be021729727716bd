/**
 * A trainer format turns pairs into a trainer's rows. Built-in formats never change a text. They omit a pair that they
 * cannot represent, or that their trainer would misread. Rows have only the columns that the
 * trainer reads, because some trainers fail on other columns.
 */
import { Result, type Schema } from "effect"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { Features, JsonRow } from "../file/Features.ts"
import { describeValue } from "../../io/Values.ts"
import type { Omission } from "../file/OmittedPairs.ts"

/** Options for the trainer formats that support them. */
export interface FormatOptions {
  /** Whether to write a column `margin`. A missing or negative margin is written as 0. Default: false. */
  readonly margin?: boolean | undefined
  /** `votes` (default): the margin is the pair's `vote_margin`. `strength`: the margin is the pair's `strength`. */
  readonly marginFrom?: "votes" | "strength" | undefined
  /** Whether to write tool definitions, if the format can contain them. Default: false. */
  readonly tools?: boolean | undefined
}

/** Trainers fail on null. A negative margin would allow `rejected` to have a higher score than `chosen`. */
export const marginOf = ({ strength, vote_margin }: PreferencePair, { margin, marginFrom }: FormatOptions): number =>
  margin === true ? Math.max(0, (marginFrom === "strength" ? strength : vote_margin) ?? 0) : 0

export const toolsColumn = ({ tools }: PreferencePair, options: FormatOptions, none: "" | null): JsonRow =>
  options.tools === true ? { tools: tools ?? none } : {}

export const toolFeatures = (options: FormatOptions | undefined): Features =>
  options?.tools === true ? { tools: "string" } : {}

/** A trainer format: name, file type, columns, encoder, and schema of the rows. */
export interface TrainerFormat {
  /** The name of the format's folder: letters, digits, `-`, `_`, and `.`. */
  readonly name: string
  /** One line that names the trainer, and describes the columns of a row. */
  readonly description: string
  /** The file type: `train.jsonl` or `train.parquet`. */
  readonly container: "jsonl" | "parquet"
  /** True if rows contain the prompt as plain text. `Conversation.toText` converts a conversation to text. */
  readonly isText?: true
  /**
   * Optional parts of a pair that the rows contain. Pairs with tool calls are left out, unless `tool_calls` is listed
   * or `isText` is true.
   */
  readonly reads?: ReadonlyArray<"all_bad" | "edited" | "tool_calls" | "tools">
  /** Returns a row's prompt. If set, rows are ordered so that neighbors have different prompts if possible (KTO). */
  readonly promptOf?: (row: JsonRow) => string
  /** The columns and their types. */
  readonly features: (options?: FormatOptions) => Features
  /** Makes an encoder for one file: `rowPerPair(…)`, or `rowPerCompletion(…)`. */
  readonly encoder: (options?: FormatOptions) => Encoder
  /** The schema of the rows that the trainer accepts. Rows are decoded with `onExcessProperty: "error"`. */
  readonly row: Schema.Codec<unknown, unknown>
  /** Finds parts of a row that the trainer silently misreads. */
  readonly warnings?: (row: JsonRow) => ReadonlyArray<Problem>
  /** Makes a check for problems between rows. The check gets the rows in file order. */
  readonly acrossRows?: () => (row: JsonRow) => ReadonlyArray<Problem>
  /** The file's entry in LLaMA-Factory's `dataset_info.json`. `fileName` is relative to the JSON file's folder. */
  readonly datasetInfo?: (fileName: string, options?: FormatOptions) => JsonRow
}

/** Encodes the pairs of one file, in order. The pairs of an item must be consecutive. */
export interface Encoder {
  /** Returns the rows that can be written now. They may come from this pair or from earlier pairs. */
  readonly encode: (pair: PreferencePair) => ReadonlyArray<Encoded>
  /** Returns the remaining rows. Called once, after the last pair. */
  readonly end: () => ReadonlyArray<Encoded>
}

/** A row, or the reason why the format omits the pair. */
export type Encoded = Result.Result<JsonRow, Omission>

/** A problem at a place in a row or a pair. */
export interface Problem {
  /** A path such as `messages[0].role`. */
  readonly field: string
  /** The expected value, in words. */
  readonly expected: string
  /** The value that was found, in words; long texts are shortened. */
  readonly found: string
}

/** A value, or the reason why the format cannot contain it. */
export type Checked<A> = Result.Result<A, Problem>

/** Fails with a `Problem`: the format cannot contain this field of the pair. */
export const refuse = (field: string, expected: string, actual: string): Checked<never> =>
  Result.fail({ field, expected, found: actual })

/** Writes a row for each pair that `checkPair` accepts. */
export const rowPerPair =
  (toRow: (pair: PreferencePair, options: FormatOptions) => Checked<JsonRow>): TrainerFormat["encoder"] =>
  (options = {}) => ({
    encode: (pair) => [
      checkPair(pair).pipe(
        Result.flatMap(() => toRow(pair, options)),
        Result.mapError((problem) => omission(pair, problem)),
      ),
    ],
    end: () => [],
  })

export const omission = ({ item_id }: PreferencePair, { expected, field, found }: Problem): Omission => ({
  item_id,
  field,
  reason: `expected ${expected}, found ${found}`,
})

export const checkPair = (pair: PreferencePair): Checked<PreferencePair> => {
  const { chosen, prompt, rejected } = pair
  const [problem] = [
    ...(typeof prompt === "string"
      ? nonEmpty("prompt", prompt)
      : prompt.flatMap(({ content, role }, i) => [
          ...nonEmpty(`prompt[${i}].role`, role),
          ...wellFormed(`prompt[${i}].content`, content),
        ])),
    ...nonEmpty("chosen", chosen),
    ...nonEmpty("rejected", rejected),
    ...(chosen === rejected
      ? [{ field: "rejected", expected: "a text that differs from `chosen`", found: describeValue(rejected) }]
      : []),
  ]
  return problem === undefined ? Result.succeed(pair) : Result.fail(problem)
}

const wellFormed = (field: string, text: string): ReadonlyArray<Problem> =>
  text.isWellFormed() ? [] : [{ field, expected: "well-formed Unicode", found: "a lone surrogate" }]

const nonEmpty = (field: string, text: string): ReadonlyArray<Problem> =>
  text === "" ? [{ field, expected: "text", found: "an empty string" }] : wellFormed(field, text)
