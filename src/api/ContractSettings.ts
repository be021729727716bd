/**
 * Settings for services that differ from the contract, such as paths of members, and the form of a choice. If a result
 * has a choice in another form than the configured one, the result is invalid.
 */

/** Default paths in the answer to a poll. `prompt`, `choice`, and `annotations` start at an element of `results`. */
export const resultPlaces = {
  status: "status",
  results: "results",
  prompt: "prompt",
  choice: "best_completion_index",
  annotations: "annotations",
} as const
export type ResultMember = keyof typeof resultPlaces

/** Paths of members in the answer to a poll, such as `data.status`. */
export interface ResultPaths {
  /** Path of the task's status. */
  readonly status?: string | undefined
  /** Path of the list of results. */
  readonly results?: string | undefined
  /** Path of the prompt in each result. */
  readonly prompt?: string | undefined
  /** Path of the choice in each result. */
  readonly choice?: string | undefined
  /** Path of the annotations in each result. */
  readonly annotations?: string | undefined
}

export const isResultMember = (name: string): name is ResultMember => Object.hasOwn(resultPlaces, name)

export const createForm = "POST or PUT, and a path, such as POST /tasks or PUT /tasks/{key}"
export const isCreate = (text: string): boolean => /^(POST|PUT) \/[^\s{}]*(\{key\}[^\s{}]*)?$/.test(text)

export const pollForm = "GET or POST, and a path with {task_id}, such as GET /tasks/{task_id}"
export const isPoll = (text: string): boolean => /^(GET|POST) \/[^\s{}]*\{task_id\}[^\s{}]*$/.test(text)

/** @param name the idempotency key that replaces `{key}` in the path, or the task id that replaces `{task_id}` */
export const requestOf = (form: string, name: string) => ({
  method: (["POST", "PUT"] as const).find((method) => form.startsWith(method)) ?? ("GET" as const),
  path: form.slice(form.indexOf("/")).replace(/\{\w+\}/, encodeURIComponent(name)),
})

/** Members of a request that `requestExtra` must not replace. */
export const contractMembers: ReadonlyArray<string> = ["task_type", "prompts", "guidelines"]

const choices: {
  readonly [form: string]: { readonly text: string; readonly read: (value: unknown) => unknown } | undefined
} = {
  index: { text: "an index of 0 or greater", read: (value) => value },
  "index-1": { text: "an index of 1 or greater", read: (value) => (typeof value === "number" ? value - 1 : undefined) },
  letter: {
    text: "a letter (A is the first completion)",
    read: (value) => (/^[A-Z]$/i.test(String(value)) ? String(value).toUpperCase().charCodeAt(0) - 65 : undefined),
  },
}

export const choiceForm = `one of the words ${Object.keys(choices).join(", ")}, or text; or a list of the completions' labels in order, without duplicates, such as left,right`

/** Returns undefined for an invalid `form`. The result's `read` converts a choice to a text or to an index from 0. */
export const choiceOf = (form: string) => {
  const labels = form.split(",")
  const { read, text } = choices[form] ?? {
    text: form === "text" ? "the text of a completion" : labels.join(" or "),
    read: (value) => (form === "text" ? value : labels.indexOf(String(value))),
  }
  const isForm = form === "text" || form in choices || (labels.length > 1 && new Set(labels).size === labels.length)
  if (!isForm || labels.includes("")) return undefined
  return {
    text,
    read: (value: unknown): number | string | undefined => {
      const choice = read(value)
      if (form === "text") return typeof choice === "string" ? choice : undefined
      return typeof choice === "number" && Number.isInteger(choice) && choice >= 0 ? choice : undefined
    },
  }
}
