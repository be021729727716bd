/** The worker that renders and compares untrusted text; it can be terminated when it takes too long. */
import { difference } from "./difference.ts"
import { renderMarkdown } from "./markdown.ts"

export type Job =
  | { readonly _tag: "render"; readonly text: string; readonly below: number }
  | { readonly _tag: "compare"; readonly left: string; readonly right: string }

const work = async (job: Job) =>
  job._tag === "render" ? renderMarkdown(job.text, job.below) : difference(job.left, job.right)

addEventListener("message", ({ data: job }: MessageEvent<Job>) => {
  void work(job).then((result) => postMessage(result), reportError)
})
