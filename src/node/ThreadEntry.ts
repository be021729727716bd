/** Adapter: the entry point of a thread (`node:worker_threads`), which answers messages in order. */
import { parentPort, workerData } from "node:worker_threads"
import type { FromThread, Stage, ThreadData } from "./Thread.ts"

const port = parentPort!
const { setup, url } = workerData as ThreadData
const { start } = (await import(url)) as { readonly start: (setup: unknown) => Stage<unknown, unknown> }
const stage = start(setup)

const work = (ask: unknown) => {
  try {
    const { answer, transfer = [] } = stage(ask)
    port.postMessage({ answer } satisfies FromThread, transfer)
  } catch (thrown) {
    port.off("message", work)
    // A cloned error would lose the system's code.
    const { code, message, path, stack, syscall } = thrown as NodeJS.ErrnoException
    port.postMessage({ failure: { code, message, path, stack, syscall } } satisfies FromThread)
  }
}
port.on("message", work)
