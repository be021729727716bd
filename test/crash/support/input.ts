/** Input in which everything occurs that a job has a kind of write for. */
import { readFileSync, writeFileSync } from "node:fs"
import { stepRecords } from "../../../src/task/Plan.ts"
import { misfits } from "./RecordingService.ts"

const sample = readFileSync(new URL("../../../data/sample.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")

interface Line {
  readonly id: string
  readonly prompt: string
  readonly completions: ReadonlyArray<string>
}

const parsed = (line: string) => JSON.parse(line) as Line

/** An item that nobody has an answer for: it has no gold. */
const item = (id: string, prompt: string, completions = ["one", "another"]) =>
  JSON.stringify({ id, prompt, completions })

const junk = Array.from({ length: 20 }, () => "?")

/** More records than are taken in one step of reading, so that the items are planned in several transactions. */
const repeats = Array.from({ length: stepRecords }, () => sample[0]!)

interface InputOptions {
  /** Also items that come to no good end. */
  readonly misfits: boolean
  /** Whether it is read in two steps. */
  readonly long?: boolean
  /** Also items whose prompts repeat, so that several batches are open when the last step of reading begins. */
  readonly repeated?: boolean
  /** How many lines are not there yet, as in a file that grows. */
  readonly missing?: number
}

/** 72 items of the sample, and more. */
const lines = ({ long = true, misfits: withMisfits, repeated = false }: InputOptions) => [
  ...sample.slice(0, 20),
  ...(repeated
    ? sample
        .slice(16, 24)
        .flatMap((line, i) => ["a", "b", "c"].map((id) => item(`${id}${i}`, parsed(line).prompt, [id, "another"])))
    : []),
  ...(withMisfits ? [item("failed", misfits.failed)] : []),
  sample[0]!,
  ...junk,
  ...(long ? repeats : []),
  ...sample.slice(20, 50),
  ...(withMisfits ? [item("invalid", misfits.invalid)] : []),
  sample[30]!,
  JSON.stringify({ ...parsed(sample[5]!), prompt: "The same id, and another question?" }),
  ...sample.slice(50),
  ...(withMisfits ? [item("refused", "Which?", ["1", "2", "3", "4", "5"])] : []),
]

/** Items that are mixed in as gold, of those of the sample. */
const goldLines = sample.filter((line) => line.includes('"gold"')).slice(-6)

/** Their prompts, which stand in the input as well. */
export const goldPrompts: ReadonlySet<string> = new Set(goldLines.map((line) => parsed(line).prompt))

/** Writes a file of gold items; gives the flags to mix them in, with several votes for each item. */
export const asking = (file: string, votes: number): ReadonlyArray<string> => {
  writeFileSync(file, `${goldLines.join("\n")}\n`)
  return ["--votes", String(votes), "--gold", file, "--gold-rate", "0.15"]
}

/** Writes so many questions with two completions, and a line that is none. */
export const questions = (file: string, n: number, promptOf: (i: number) => string, other = "another"): string => {
  const item = (i: number) => JSON.stringify({ prompt: promptOf(i), completions: ["one", other] })
  writeFileSync(file, `${Array.from({ length: n }, (_, i) => item(i)).join("\n")}\n?\n`)
  return file
}

/** Writes the input. */
export const write = (file: string, options: InputOptions): string => {
  const all = lines(options)
  writeFileSync(file, `${all.slice(0, all.length - (options.missing ?? 0)).join("\n")}\n`)
  return file
}
