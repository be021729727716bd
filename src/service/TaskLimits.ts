/**
 * What the service takes: which tasks, and how large.
 *
 * Guarantees: a request that passes has prompts with text and at least two
 * completions each, within the limits; one that does not is refused with every
 * place that is wrong (the first hundred).
 */
import { Effect } from "effect"
import { UnprocessableTask } from "../api/Problems.ts"
import { rlhfRanking, type TaskRequest } from "../domain/Task.ts"

export interface TaskLimits {
  readonly bodyBytes: number
  readonly promptsPerTask: number
  readonly completionsPerPrompt: number
}

export const defaultLimits: TaskLimits = {
  bodyBytes: 10 * 1024 * 1024,
  promptsPerTask: 1_000,
  completionsPerPrompt: 64,
}

const supportedTaskTypes: ReadonlyArray<string> = [rlhfRanking]
const mostErrors = 100

/** Fails where the service doesn't do what is asked. */
export const check = (request: TaskRequest, limits: TaskLimits): Effect.Effect<void, UnprocessableTask> => {
  const errors: Array<{ readonly path: ReadonlyArray<string | number>; readonly message: string }> = []
  const expect = (holds: boolean, path: ReadonlyArray<string | number>, message: string) => {
    if (!holds && errors.length < mostErrors) errors.push({ path: ["payload", ...path], message })
  }

  const { task_type, prompts } = request
  expect(
    supportedTaskTypes.includes(task_type),
    ["task_type"],
    `expected one of ${supportedTaskTypes.join(", ")}, found ${JSON.stringify(task_type.slice(0, 100))}`,
  )
  expect(prompts.length > 0, ["prompts"], "expected at least one prompt")
  expect(
    prompts.length <= limits.promptsPerTask,
    ["prompts"],
    `expected at most ${limits.promptsPerTask} prompts, found ${prompts.length}`,
  )
  prompts.forEach(({ prompt, completions }, i) => {
    expect(prompt.trim() !== "", ["prompts", i, "prompt"], "expected text, found a blank string")
    expect(
      completions.length >= 2 && completions.length <= limits.completionsPerPrompt,
      ["prompts", i, "completions"],
      `expected 2 to ${limits.completionsPerPrompt} completions, found ${completions.length}`,
    )
  })

  const [first] = errors
  if (first === undefined) return Effect.void
  return Effect.fail(new UnprocessableTask({ detail: `${first.path.slice(1).join(".")}: ${first.message}`, errors }))
}
