/**
 * A language model behind OpenAI's protocol, on a real HTTP server: it finds the completions
 * by the marks that it is told of, as a model should, and answers as the test says.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { Effect } from "effect"
import { make as makeExpert, type JudgeOptions } from "../../src/service/expert/JudgeExpert.ts"
import type { JudgeAnswers } from "../../src/service/expert/JudgeAnswers.ts"
import * as ScriptedService from "./ScriptedService.ts"

export interface Question {
  readonly system: string
  readonly user: string
  readonly marker: string
  readonly guidelines: string
  readonly prompt: string
  /** As shown: A, B. */
  readonly completions: readonly [string, string]
}

/** Takes a request apart by its structure; throws where it has another one. */
export const questionOf = ({ body }: Pick<ScriptedService.Received, "body">): Question => {
  const { messages } = JSON.parse(body) as { messages: ReadonlyArray<{ role: string; content: string }> }
  if (messages.map(({ role }) => role).join() !== "system,user") throw new Error(`other messages: ${body}`)
  const [system, user] = messages.map(({ content }) => content) as [string, string]
  const marker = /names end in ([0-9a-f]{16})\./.exec(system)?.[1]
  if (marker === undefined) throw new Error(`no marker: ${system}`)
  const marked = (name: string) => {
    const [open, close] = [`<${name}-${marker}>\n`, `\n</${name}-${marker}>`]
    if (user.split(open).length !== 2 || user.split(close).length !== 2) throw new Error(`not one ${name}: ${user}`)
    return user.slice(user.indexOf(open) + open.length, user.indexOf(close))
  }
  return {
    system,
    user,
    marker,
    guidelines: user.includes(`<guidelines-${marker}>`) ? marked("guidelines") : "",
    prompt: marked("prompt"),
    completions: [marked("completion-A"), marked("completion-B")],
  }
}

export const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }

/** A chat completion with these words. */
export const says = (content: unknown, more: object = {}): ScriptedService.Answer => ({
  status: 200,
  body: {
    id: "chatcmpl-1",
    object: "chat.completion",
    model: "stub-2024-08-06",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage,
    ...more,
  },
})

export type Choice = "A" | "B" | "tie"

export const verdict = (best: Choice, rationale = `I prefer ${best}.`) => says(JSON.stringify({ rationale, best }))

/** Prefers by a value that it gives each completion, whatever the order. */
export const byValue =
  (value: (completion: string) => number) =>
  ({ completions: [a, b] }: Question): Choice =>
    value(a) > value(b) ? "A" : value(a) < value(b) ? "B" : "tie"

/** A model that answers each question by a rule. */
export const make = (choose: (question: Question) => Choice) =>
  ScriptedService.make((request) => {
    const question = questionOf(request)
    const choice = choose(question)
    return verdict(choice, choice === "tie" ? "Equal." : `Because of: ${question.completions[choice === "A" ? 0 : 1]}`)
  })

export const expertAt = (baseUrl: string, options: Partial<JudgeOptions> = {}, answers?: JudgeAnswers) =>
  makeExpert({ model: "stub", retries: 0, baseUrl, ...options }, { answers })

/** Real time, real sockets. */
export const httpClient = NodeHttpClient.layerUndici

export const judge = Effect.fnUntraced(function* (
  baseUrl: string,
  item: { readonly prompt: string; readonly completions: ReadonlyArray<string> },
  options: Partial<JudgeOptions> & { readonly guidelines?: string } = {},
  answers?: JudgeAnswers,
) {
  const { guidelines, ...rest } = options
  const expert = yield* expertAt(baseUrl, rest, answers)
  return yield* expert.judge(item, guidelines)
}, Effect.provide(httpClient))
