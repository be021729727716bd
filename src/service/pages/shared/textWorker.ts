/** The worker in which hostile text is rendered and compared: it can be ended when it takes too long. */
import { difference } from "./difference.ts"
import { renderMarkdown } from "./markdown.ts"
import type { Job } from "./textJob.ts"

const work = async (job: Job) =>
  job._tag === "render" ? renderMarkdown(job.text, job.below) : difference(job.left, job.right)

addEventListener("message", ({ data: job }: MessageEvent<Job>) => {
  void work(job).then((result) => postMessage(result), reportError)
})
