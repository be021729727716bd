/**
 * Prompts in one file, completions in others (one for each model), joined by a key.
 *
 * Guarantees: memory stays bounded however large the files are, the completions
 * go through a scratch database on disk. An item's completions stand in the order
 * of the completions files; its id is the key as text, and a number is the same
 * key as its decimal digits. A key too long for an id (a prompt, say) has its SHA-256 for one.
 *
 * Records are the rows of the prompts file, in order, and then those rows of the
 * completions files that could not be used, in the order of files and lines:
 * bad ones, later ones with the same key, those that no prompt asks for. The rows
 * that belong to a refused prompt are mended with it: they are no rejects of their own.
 */
import { Array, Effect, Path, Result, Schema, Stream } from "effect"
import * as IdLimit from "../../domain/IdLimit.ts"
import { Reject } from "../../domain/Reject.ts"
import * as Sha256 from "../../node/Sha256.ts"
import * as FieldPath from "./FieldPath.ts"
import * as ItemDecoder from "../ItemDecoder.ts"
import * as JoinScratch from "./JoinScratch.ts"
import * as Json from "../format/Json.ts"
import * as Lines from "../format/Lines.ts"
import { type Place, reject } from "../Row.ts"
import { invalidOption, requireFiles, type SourceError } from "../SourceError.ts"
import type { Source, SourceRecord } from "../SourceRecord.ts"

/** Where a value stands in a row is a field path such as `choices[0].message.content`. */
export interface JoinOptions extends Lines.LinesOptions {
  /** A JSONL file, a prompt a line. */
  readonly prompts: string
  /** JSONL files, a completion a line; two or more. */
  readonly completions: ReadonlyArray<string>
  /** The key in all files, a string or a safe integer. Default `id`. */
  readonly key?: string | undefined
  /** The key in the prompts file, where it is another. */
  readonly promptKey?: string | undefined
  /** The key in the completions files, where it is another. */
  readonly completionKey?: string | undefined
  /** In the prompts file. Default `prompt`. */
  readonly promptPath?: string | undefined
  /** In the completions files. Default `completion`. */
  readonly completionPath?: string | undefined
  /**
   * An object in the prompts file. Default `metadata`. The names of the completions'
   * files, without folder and extension, are added to it as `models`, unless it has
   * a member of that name.
   */
  readonly metadataPath?: string | undefined
  /** In the prompts file. Default `gold`. */
  readonly goldPath?: string | undefined
  /**
   * What becomes of a prompt for which some file has no row: it is refused, or kept
   * with the completions there are, if they are two or more. Default `reject`.
   *
   * A gold item counts among the completions that are there. So it is kept only if
   * its metadata's own `models` name just these: else its right answer could be
   * another without notice.
   */
  readonly missing?: "reject" | "keep" | undefined
  /** Where the scratch database is made. Default: the system's place for temporary files. */
  readonly scratchDirectory?: string | undefined
}

/** Fails before the first record if a file is missing or a field path is none. */
export const join = (options: JoinOptions): Source => ({
  description: `${options.prompts} with ${options.completions.length} completions files, joined by ${options.key ?? options.promptKey ?? "id"}`,
  records: Effect.gen(function* () {
    const layout = yield* makeLayout(options)
    yield* requireFiles([layout.prompts, ...layout.completions])
    const scratch = yield* JoinScratch.make(options.scratchDirectory)
    yield* Effect.forEach(layout.completions, (_, file) => spill(layout, scratch, file), { discard: true })
    const prompts = Lines.read(layout.prompts, layout).pipe(
      Stream.rechunk(promptsPerLookup),
      Stream.mapArrayEffect((lines) => joinPrompts(layout, scratch, lines)),
    )
    return Stream.concat(
      prompts,
      Stream.map(scratch.leftovers, (row) => leftoverRecord(layout, row)),
    )
  }).pipe(Stream.unwrap),
})

const promptsPerLookup = 128

/** The options with their defaults, paths parsed. */
const makeLayout = Effect.fnUntraced(function* (options: JoinOptions) {
  if (options.completions.length < 2) {
    return yield* invalidOption("completions", `expected at least two files, found ${options.completions.length}`)
  }
  const path = yield* Path.Path
  const names = options.completions.map((file) => path.parse(file).name)
  const pathOf = (option: keyof JoinOptions, text: string): Effect.Effect<FieldPath.FieldPath, SourceError> =>
    Effect.mapError(Effect.fromResult(FieldPath.parse(text)), (problem) => invalidOption(option, problem))
  const key = options.key ?? "id"
  return {
    prompts: options.prompts,
    completions: options.completions,
    /** Files of the same name in different folders are told apart by their whole paths. */
    models: new Set(names).size === names.length ? names : options.completions,
    promptKey: yield* pathOf(options.promptKey === undefined ? "key" : "promptKey", options.promptKey ?? key),
    completionKey: yield* pathOf(
      options.completionKey === undefined ? "key" : "completionKey",
      options.completionKey ?? key,
    ),
    prompt: yield* pathOf("promptPath", options.promptPath ?? "prompt"),
    completion: yield* pathOf("completionPath", options.completionPath ?? "completion"),
    metadata: yield* pathOf("metadataPath", options.metadataPath ?? "metadata"),
    gold: yield* pathOf("goldPath", options.goldPath ?? "gold"),
    keepIncomplete: options.missing === "keep",
    maxLineBytes: options.maxLineBytes,
  }
})
type Layout = Effect.Success<ReturnType<typeof makeLayout>>
type Scratch = Effect.Success<ReturnType<typeof JoinScratch.make>>

/** A line of JSON with its key. */
interface Row {
  readonly place: Place & { readonly raw: string }
  readonly value: unknown
  readonly key: string
}

const parseRow = (file: string, line: Lines.LineResult, keyPath: FieldPath.FieldPath): Result.Result<Row, Reject> => {
  if (Result.isFailure(line)) return Result.fail(line.failure)
  const place = { file, line: line.success.number, raw: line.success.text }
  const value = Json.parse(place.raw)
  if (Result.isFailure(value)) return reject(place, "invalid_json", value.failure)
  const key = ItemDecoder.decodeKey(keyPath.get(value.success), keyPath.text)
  if (Result.isFailure(key)) return reject(place, "invalid_shape", key.failure)
  return Result.succeed({ place, value: value.success, key: key.success })
}

const spill = (layout: Layout, scratch: Scratch, file: number) => {
  const name = layout.completions[file]!
  const toRow = (line: Lines.LineResult): JoinScratch.ScratchRow => {
    const row = parseRow(name, line, layout.completionKey)
    if (Result.isFailure(row)) return { line: row.failure.line ?? 0, reject: row.failure }
    const { place, value, key } = row.success
    const text = ItemDecoder.decodeText(layout.completion.get(value), layout.completion.text)
    if (Result.isSuccess(text)) return { line: place.line ?? 0, key, raw: place.raw }
    const refused = reject(place, "invalid_shape", text.failure)
    return { line: place.line ?? 0, reject: Result.merge(refused) }
  }
  return Lines.read(name, layout).pipe(
    Stream.runForEachArray((lines) =>
      scratch.insert(file, lines.map(toRow), ({ line, key, raw }, firstLine) =>
        Result.merge(duplicate({ file: name, line, raw }, key, firstLine)),
      ),
    ),
    scratch.inTransaction,
  )
}

const duplicate = (place: Place, key: string, firstLine: number): Result.Result<never, Reject> =>
  reject(place, "duplicate_key", `expected each key once, found ${quote(key)} in line ${firstLine} already`)

const joinPrompts = Effect.fnUntraced(function* (
  layout: Layout,
  scratch: Scratch,
  lines: Array.NonEmptyReadonlyArray<Lines.LineResult>,
) {
  const rows = Array.map(lines, (line) => parseRow(layout.prompts, line, layout.promptKey))
  const keys = Array.getSuccesses(rows).map((row) => ({ key: row.key, line: row.place.line ?? 0 }))
  const duplicates = yield* scratch.claim(keys)
  const found = yield* scratch.find(keys.map(({ key }) => key))
  return Array.map(
    rows,
    Result.flatMap((row): SourceRecord => {
      const firstLine = duplicates.get(row.place.line ?? 0)
      return firstLine === undefined
        ? joinPrompt(layout, row, found.get(row.key) ?? [])
        : duplicate(row.place, row.key, firstLine)
    }),
  )
})

const joinPrompt = (
  layout: Layout,
  { place, value, key }: Row,
  found: ReadonlyArray<JoinScratch.FoundRow>,
): SourceRecord => {
  const models = found.map(({ file }) => layout.models[file]!)
  const metadata = layout.metadata.get(value)
  const gold = layout.gold.get(value)
  if (found.length < layout.completions.length) {
    const absent = layout.completions.filter((_, file) => !found.some((row) => row.file === file))
    const problem = `expected a usable row for key ${quote(key)} in each completions file, found none in ${absent.join(", ")}`
    if (!layout.keepIncomplete) return reject(place, "no_match", problem)
    if (found.length < 2) return reject(place, "no_match", `${problem}; two completions are the least`)
    if (gold !== undefined && !namesModels(metadata, models)) {
      const why = `${layout.gold.text} may count them, and ${layout.metadata.text}.models does not say which there are`
      return reject(place, "no_match", `${problem}; ${why}`)
    }
  }
  return ItemDecoder.decode(
    {
      id: IdLimit.fits(key) ? key : `sha256:${Sha256.hex(key)}`,
      prompt: layout.prompt.get(value),
      completions: found.map(({ raw }) => layout.completion.get(JSON.parse(raw))),
      metadata: metadata === undefined || ItemDecoder.isObject(metadata) ? withModels(metadata, models) : metadata,
      ...(gold === undefined ? undefined : { gold }),
    },
    place,
    { prompt: layout.prompt.text, metadata: layout.metadata.text, gold: layout.gold.text },
  )
}

/** Metadata that names its models goes along untouched. */
const withModels = (metadata: object | undefined, models: ReadonlyArray<string>): object =>
  metadata !== undefined && Object.hasOwn(metadata, "models") ? metadata : { ...metadata, models }

const namesModels = (metadata: unknown, models: ReadonlyArray<string>): boolean => {
  const named = ItemDecoder.isObject(metadata) ? metadata["models"] : undefined
  return Array.isArray(named) && named.length === models.length && named.every((name, index) => name === models[index])
}

const decodeReject = Schema.decodeSync(Schema.fromJsonString(Reject))

const leftoverRecord = (layout: Layout, row: JoinScratch.LeftoverRow): SourceRecord =>
  row.reject === null
    ? reject(
        { file: layout.completions[row.file]!, line: row.line, raw: row.raw ?? undefined },
        "no_match",
        `expected a prompt with key ${quote(row.key ?? "")} in ${layout.prompts}, found none`,
      )
    : Result.fail(decodeReject(row.reject))

const quote = (key: string): string => JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}…` : key)
