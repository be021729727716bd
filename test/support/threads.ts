/** Takes hold of the threads that are started from now on. */
import { syncBuiltinESMExports } from "node:module"
import threads, { type WorkerOptions } from "node:worker_threads"

/** @returns takes it back */
const replaced = (started: (url: string | URL, options: WorkerOptions) => threads.Worker): (() => void) => {
  const { Worker } = threads
  threads.Worker = new Proxy(Worker, {
    construct: (_, [url, options]: [string | URL, WorkerOptions]) => started(url, options),
  })
  syncBuiltinESMExports()
  return () => {
    threads.Worker = Worker
    syncBuiltinESMExports()
  }
}

/** Each thread imports a module first. @returns takes it back */
export const importedByThreads = (module: URL): (() => void) => {
  const { Worker } = threads
  return replaced(
    (url, options) =>
      new Worker(url, { ...options, execArgv: ["--conditions=prefstream-source", "--import", module.href] }),
  )
}

/** @param onStart told of each thread @returns takes it back */
export const watched = (onStart: (thread: threads.Worker) => void): (() => void) => {
  const { Worker } = threads
  return replaced((url, options) => {
    const started = new Worker(url, options)
    onStart(started)
    return started
  })
}
