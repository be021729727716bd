/** Renders and compares untrusted texts in a worker, which can be terminated if it takes too long. */
import { difference } from "./textDifference.ts"
import type { Allowed } from "./images.ts"
import { renderMarkdown } from "./markdown.ts"

export type Job =
  | {
      readonly _tag: "render"
      readonly text: string
      readonly below: number
      readonly images: Allowed
    }
  | { readonly _tag: "compare"; readonly left: string; readonly right: string }

/** The worker's reports. `loading` and `working` each restart the job's time limit, which is longer for `loading`. */
export type Report =
  | { readonly _tag: "loading" }
  | { readonly _tag: "working" }
  | { readonly _tag: "done"; readonly result: unknown }

const report = (message: Report) => postMessage(message)

const load = <A>(module: Promise<A>): Promise<A> => {
  report({ _tag: "loading" })
  return module.finally(() => report({ _tag: "working" }))
}

const work = async (job: Job) =>
  job._tag === "render" ? renderMarkdown(job.text, job.below, load, job.images) : difference(job.left, job.right)

addEventListener("message", ({ data: job }: MessageEvent<Job>) => {
  void work(job).then((result) => report({ _tag: "done", result }), reportError)
})
report({ _tag: "working" })
