/**
 * Limits on the numbers and sizes in a task. A refusal lists each invalid member (at most 100). Metadata with deep
 * nesting, or with numbers that would lose digits, is refused. So accepted metadata can be returned unchanged.
 */
import { Effect, Result } from "effect"
import * as Guidelines from "../../api/Guidelines.ts"
import { UnprocessableTask } from "../../api/Problems.ts"
import type { ItemLimits } from "../../api/ServiceProfile.ts"
import type { Metadata } from "../../domain/PromptItem.ts"
import { blankIssue, charactersOf, isBlank } from "../../domain/Text.ts"
import { rlhfRanking } from "../../domain/Task.ts"
import { jsonProblem } from "../../io/JsonProblem.ts"
import type { TaskContent } from "../store/TaskRequests.ts"

/** The limits of a task. Lengths of texts are in code points, as in JSON Schema. */
export interface RequestLimits {
  /** Maximum size of a request's body in bytes. Default 10 MiB. */
  readonly bodyBytes: number
  /** Maximum prompts of a task. Default 1,000. */
  readonly promptsPerTask: number
  /** Maximum completions of a prompt. Default 64. */
  readonly completionsPerPrompt: number
  /** Maximum length of a prompt. Default 200,000. */
  readonly promptCharacters: number
  /** Maximum length of a completion. Default 200,000. */
  readonly completionCharacters: number
  /** Maximum length of the guidelines. Default 50,000. */
  readonly guidelinesCharacters: number
}

export const defaultLimits: RequestLimits = {
  bodyBytes: 10 * 1024 * 1024,
  promptsPerTask: 1_000,
  completionsPerPrompt: 64,
  promptCharacters: 200_000,
  completionCharacters: 200_000,
  guidelinesCharacters: 50_000,
}

export const ofItems = ({
  completionCharacters,
  completionsPerPrompt,
  promptCharacters,
}: RequestLimits): ItemLimits => ({
  maxCompletions: completionsPerPrompt,
  maxPromptCharacters: promptCharacters,
  maxCompletionCharacters: completionCharacters,
})

const supportedTaskTypes: ReadonlyArray<string> = [rlhfRanking]
const maxErrors = 100

type Place = ReadonlyArray<string | number>

export const check = (
  request: TaskContent & { readonly task_type: string; readonly group?: string },
  limits: RequestLimits,
): Effect.Effect<void, UnprocessableTask> => {
  const errors: Array<{ readonly path: Place; readonly message: string }> = []
  const expect = (holds: boolean, path: Place, message: string) => {
    if (!holds && errors.length < maxErrors) errors.push({ path, message })
  }
  const expectText = (text: string, max: number, place: () => Place) => {
    const characters = text.length > max ? charactersOf(text) : text.length
    if (characters > max) {
      expect(false, place(), `expected at most ${max} characters, found ${characters}`)
    } else if (!text.isWellFormed()) {
      expect(false, place(), "expected well-formed Unicode, found a lone surrogate")
    }
  }

  const expectJson = (metadata: Metadata | undefined, place: Place) => {
    const problem = jsonProblem(metadata)
    if (problem !== undefined) expect(false, [...place, "metadata", ...problem.keys], problem.message)
  }

  const { group, guidelines, metadata, prompts, task_type } = request
  expect(
    supportedTaskTypes.includes(task_type),
    ["task_type"],
    `expected one of ${supportedTaskTypes.join(", ")}, found ${JSON.stringify(task_type.slice(0, 100))}`,
  )
  if (guidelines !== undefined) {
    expectText(guidelines, limits.guidelinesCharacters, () => ["guidelines"])
    const parsed = Guidelines.parse(guidelines)
    if (Result.isFailure(parsed)) expect(false, ["guidelines"], `invalid rubric in the front matter: ${parsed.failure}`)
  }
  if (group !== undefined) {
    expectText(group, Infinity, () => ["group"])
    expect(!/\p{Cc}/u.test(group), ["group"], "expected text on one line, found a control character")
  }
  expectJson(metadata, [])
  expect(prompts.length > 0, ["prompts"], "expected at least one prompt")
  expect(
    prompts.length <= limits.promptsPerTask,
    ["prompts"],
    `expected at most ${limits.promptsPerTask} prompts, found ${prompts.length}`,
  )
  prompts.forEach(({ prompt, completions, metadata }, i) => {
    expectJson(metadata, ["prompts", i])
    expect(!isBlank(prompt), ["prompts", i, "prompt"], blankIssue)
    expectText(prompt, limits.promptCharacters, () => ["prompts", i, "prompt"])
    expect(
      completions.length >= 2 && completions.length <= limits.completionsPerPrompt,
      ["prompts", i, "completions"],
      `expected 2 to ${limits.completionsPerPrompt} completions, found ${completions.length}`,
    )
    completions.forEach((completion, k) =>
      expectText(completion, limits.completionCharacters, () => ["prompts", i, "completions", k]),
    )
  })

  const [first] = errors
  if (first === undefined) return Effect.void
  return Effect.fail(new UnprocessableTask({ detail: `${first.path.join(".")}: ${first.message}`, errors }))
}
