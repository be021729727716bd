/**
 * A trainer format as a plain value: how preference pairs become a trainer's rows, and the schema of these rows. A
 * custom format is such a value, passed in the `formats` of `Dataset.write`; a built-in one also has a name in `TrainerFormats`.
 *
 * Guarantees of every built-in format: texts are unchanged, to the code unit. A pair that the format cannot represent,
 * or that its trainer would misread, is omitted with a reason. Rows have only the columns that the trainer reads, since
 * some trainers fail on others.
 */
import { Result, type Schema } from "effect"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { Features, JsonRow } from "../file/Features.ts"
import { describeValue } from "../../io/Values.ts"
import type { Omission } from "../file/OmittedPairs.ts"

/** Options of trainer formats, for those that support them. */
export interface FormatOptions {
  /**
   * Writes the pair's margin, and 0 where there is none, as `margin`: for the formats whose
   * trainers read it (`trl*` but the unpaired ones and TPO, `openrlhf*`). Default false.
   */
  readonly margin?: boolean | undefined
  /** What the margin is: `vote_margin`, at least 0, or `strength`, which is 1 or more. Default `votes`. */
  readonly marginFrom?: "votes" | "strength" | undefined
  /** Writes the definitions of tools, for the formats that have a place for them. Default false. */
  readonly tools?: boolean | undefined
}

/**
 * The pair's margin; 0 where it has none, since null breaks collators, and where more votes were against the choice, which
 * reliable experts or a lead made: below 0, a trainer would allow the rejected one to be better.
 */
export const marginOf = ({ strength, vote_margin }: PreferencePair, { margin, marginFrom }: FormatOptions): number =>
  margin === true ? Math.max(0, (marginFrom === "strength" ? strength : vote_margin) ?? 0) : 0

/** The column of tools' definitions, if it is written. @param none where a pair has no tools */
export const toolsColumn = ({ tools }: PreferencePair, options: FormatOptions, none: "" | null): JsonRow =>
  options.tools === true ? { tools: tools ?? none } : {}

/** The type of the column of tools' definitions, if it is written. */
export const toolFeatures = (options: FormatOptions | undefined): Features =>
  options?.tools === true ? { tools: "string" } : {}

/** A trainer format: name, file type, columns, encoder and schema of the rows. */
export interface TrainerFormat {
  /** Names the format's folder: letters, digits, `-`, `_` and `.`. */
  readonly name: string
  /** One line: who reads it, and what a row holds. */
  readonly description: string
  /** The file type: `train.jsonl` or `train.parquet`. */
  readonly container: "jsonl" | "parquet"
  /** Set where prompts are text: a conversation is one as `Conversation.toText` has it. */
  readonly isText?: true
  /**
   * Columns of the pair that it has a place for, besides its texts and a margin; `tool_calls` where messages have calls
   * and results of tools. Without it, pairs with calls are omitted, but in text, which they are rendered in.
   */
  readonly reads?: ReadonlyArray<"all_bad" | "edited" | "tool_calls" | "tools">
  /**
   * A row's prompt, as text. Set where the trainer takes the completion of the row before as one of another prompt, as
   * KTO's does: rows of a prompt are then written far apart.
   */
  readonly promptOf?: (row: JsonRow) => string
  /** The columns and their types. */
  readonly features: (options?: FormatOptions) => Features
  /** A new encoder for one file: `rowPerPair(…)`, or `rowPerCompletion(…)`. */
  readonly encoder: (options?: FormatOptions) => Encoder
  /** What the trainer needs a row to be. Decoded with `onExcessProperty: "error"`. */
  readonly row: Schema.Codec<unknown, unknown>
  /** What the trainer reads otherwise than it is meant, though it does not fail. */
  readonly warnings?: (row: JsonRow) => ReadonlyArray<Problem>
  /** The same for what only shows over the rows of a file, which are given in order. */
  readonly acrossRows?: () => (row: JsonRow) => ReadonlyArray<Problem>
  /** The file's entry in LLaMA-Factory's `dataset_info.json`; `fileName` is relative to its folder. */
  readonly datasetInfo?: (fileName: string, options?: FormatOptions) => JsonRow
}

/** Encodes the pairs of one file, in order; the pairs of an item must be consecutive. */
export interface Encoder {
  /** The rows that are known after this pair. */
  readonly encode: (pair: PreferencePair) => ReadonlyArray<Encoded>
  /** The remaining rows. Called once, after the last pair. */
  readonly end: () => ReadonlyArray<Encoded>
}

/** A row, or why there is none. */
export type Encoded = Result.Result<JsonRow, Omission>

/** A place in a row or a pair, and what is wrong there. */
export interface Problem {
  /** A path such as `messages[0].role`. */
  readonly field: string
  /** In words. */
  readonly expected: string
  /** In words; texts are quoted in part. */
  readonly found: string
}

/** A value, or the field of the pair that the format cannot hold. */
export type Checked<A> = Result.Result<A, Problem>

/** A pair that the format cannot hold: the field, what the format expects there, and what was found. */
export const refuse = (field: string, expected: string, found: string): Checked<never> =>
  Result.fail({ field, expected, found })

/** A row for each pair that is well-formed and has two different completions. */
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

/** What every format needs: well-formed Unicode and two different completions. */
export const checkPair = (pair: PreferencePair): Checked<PreferencePair> => {
  const { chosen, prompt, rejected } = pair
  const [problem] = [
    ...(typeof prompt === "string"
      ? filled("prompt", prompt)
      : prompt.flatMap(({ content, role }, i) => [
          ...filled(`prompt[${i}].role`, role),
          ...wellFormed(`prompt[${i}].content`, content),
        ])),
    ...filled("chosen", chosen),
    ...filled("rejected", rejected),
    ...(chosen === rejected
      ? [{ field: "rejected", expected: "another text than chosen", found: describeValue(rejected) }]
      : []),
  ]
  return problem === undefined ? Result.succeed(pair) : Result.fail(problem)
}

const wellFormed = (field: string, text: string): ReadonlyArray<Problem> =>
  text.isWellFormed() ? [] : [{ field, expected: "well-formed Unicode", found: "a lone surrogate" }]

const filled = (field: string, text: string): ReadonlyArray<Problem> =>
  text === "" ? [{ field, expected: "text", found: "an empty string" }] : wellFormed(field, text)
