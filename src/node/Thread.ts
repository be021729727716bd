/**
 * Adapter: runs a stage, which is a function that answers messages, in a separate thread. If the stage's file is
 * missing, as in a bundled program, the stage runs in the calling thread. A stage does not import Effect, because this
 * would slow the thread's start. Messages are answered in order. After a failure, no further message is processed.
 */
import { existsSync } from "node:fs"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import { Cause, Context, Effect, Schema, Scope } from "effect"

export type Stage<Ask, Answer> = ((ask: Ask) => { readonly answer: Answer; readonly transfer?: Array<ArrayBuffer> }) & {
  readonly close?: () => void
}

export interface StageModule<Setup, Ask, Answer> {
  readonly path: string
  /** Returns the module itself, not a promise, if it is already imported. */
  readonly load: () => Loaded<Setup, Ask, Answer> | Promise<Loaded<Setup, Ask, Answer>>
}

interface Loaded<Setup, Ask, Answer> {
  readonly start: (setup: Setup) => Stage<Ask, Answer>
}

export interface ThreadData {
  readonly url: string
  readonly setup: unknown
}

interface Failure extends Pick<NodeJS.ErrnoException, "code" | "message" | "path" | "syscall"> {
  readonly stack?: string | undefined
}

export interface FromThread {
  readonly answer?: unknown
  readonly failure?: Failure
}

/** A system call failed in the thread, or the thread ended. */
export class ThreadFailed extends Schema.TaggedError<ThreadFailed>()("ThreadFailed", {
  /** The error, with the system's `code` and `path` if it has them. */
  cause: Schema.Defect(),
}) {
  override get message() {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

export interface Thread<Ask> {
  /** Does not wait for the answer. Do not use the buffers in `transfer` afterwards: the thread may own them. */
  readonly send: (ask: Ask, transfer?: ReadonlyArray<ArrayBuffer>) => void
  /** Waits until the number of unanswered messages is below `ahead`. */
  readonly room: Effect.Effect<void, ThreadFailed>
  readonly drain: Effect.Effect<void, ThreadFailed>
}

const values: { readonly [value: string]: "always" | "never" | undefined } = { "0": "never", "1": "always" }

export const Threads = Context.Reference<"always" | "large" | "never">("prefstream/node/Threads", {
  defaultValue: () =>
    values[process.env["PREFSTREAM_THREADS"] ?? ""] ?? (availableParallelism() > 1 ? "large" : "never"),
})

const urlOf = (path: string): URL | undefined => {
  const base: string | undefined = import.meta.url
  if (base === undefined) return undefined
  const [, ending = ""] = /(\.ts|\.js)$/.exec(base) ?? []
  return [`./${path.slice(path.lastIndexOf("/") + 1)}`, `../${path}`]
    .map((place) => new URL(`${place}${ending}`, base))
    .find((url) => url.protocol === "file:" && existsSync(fileURLToPath(url)))
}

const entry = "node/ThreadEntry"

const causeOf = (error: Failure) =>
  error.syscall !== undefined || error.code === "ERR_WORKER_OUT_OF_MEMORY"
    ? Cause.fail(new ThreadFailed({ cause: error }))
    : Cause.die(error)

/**
 * The start of a thread takes 0.1 s. With the setting `large`, a thread is therefore started only for many messages,
 * that is, when the caller waits for `room` before `drain`. For few messages, the stage runs in the calling thread.
 */
export const make = Effect.fnUntraced(function* <Setup, Ask, Answer>(
  module: StageModule<Setup, Ask, Answer>,
  setup: Setup,
  { ahead, onAnswer }: { readonly ahead: number; readonly onAnswer: (answer: Answer) => void },
): Effect.fn.Return<Thread<Ask>, never, Scope.Scope> {
  const [url, entryUrl] = [urlOf(module.path), urlOf(entry)]
  const scope = yield* Effect.scope
  const which = yield* Threads
  const own = which !== "never" && url !== undefined && entryUrl !== undefined ? { url, entryUrl } : undefined
  let held: Array<Parameters<Thread<Ask>["send"]>> = []
  let started: Thread<Ask> | undefined

  const start = Effect.fnUntraced(function* (isLarge: boolean) {
    const thread: Thread<Ask> =
      own === undefined || (which === "large" && !isLarge)
        ? yield* inThisThread(module, setup, onAnswer)
        : yield* inThread(module.path, own.entryUrl, { url: own.url.href, setup }, ahead, (answer) =>
            onAnswer(answer as Answer),
          )
    for (const message of held) thread.send(...message)
    held = []
    return (started = thread)
  }, Scope.provide(scope))

  return {
    send: (...message) => void (started === undefined ? held.push(message) : started.send(...message)),
    room: Effect.suspend(() =>
      started === undefined ? Effect.flatMap(start(true), ({ room }) => room) : started.room,
    ),
    drain: Effect.suspend(() =>
      started === undefined ? Effect.flatMap(start(false), ({ drain }) => drain) : started.drain,
    ),
  }
})

const inThisThread = Effect.fnUntraced(function* <Setup, Ask, Answer>(
  { load }: StageModule<Setup, Ask, Answer>,
  setup: Setup,
  onAnswer: (answer: Answer) => void,
) {
  const loading = load()
  const { start } = loading instanceof Promise ? yield* Effect.promise(() => loading) : loading
  let stage: Stage<Ask, Answer> | undefined
  yield* Effect.addFinalizer(() => Effect.sync(() => stage?.close?.()))
  let failure: Cause.Cause<ThreadFailed> | undefined
  const state = Effect.suspend(() => (failure === undefined ? Effect.yieldNow : Effect.failCause(failure)))
  const answerOf = (ask: Ask): Answer | undefined => {
    try {
      stage ??= start(setup)
      return stage(ask).answer
    } catch (thrown) {
      failure = causeOf(thrown as Failure)
      return undefined
    }
  }
  return {
    send: (ask) => {
      if (failure !== undefined) return
      const answer = answerOf(ask)
      if (failure !== undefined) return
      try {
        onAnswer(answer as Answer)
      } catch (thrown) {
        failure = Cause.die(thrown)
      }
    },
    room: state,
    drain: state,
  } satisfies Thread<Ask>
})

/** A thread inherits the process's flags, but accepts no `--input-type`. */
const ownFlags = () => (process.execArgv.some((flag) => flag.startsWith("--input-type")) ? { execArgv: [] } : {})

const youngMegabytes = 64

const inThread = Effect.fnUntraced(function* (
  name: string,
  entryUrl: URL,
  workerData: ThreadData,
  ahead: number,
  onAnswer: (answer: unknown) => void,
) {
  const worker = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Worker(entryUrl, {
          name,
          workerData,
          ...ownFlags(),
          resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
        }),
    ),
    (worker) => Effect.promise(() => worker.terminate()),
  )
  let unanswered = 0
  let failure: Cause.Cause<ThreadFailed> | undefined
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const check of waiting) check()
  }
  const fail = (cause: Cause.Cause<ThreadFailed>) => {
    failure ??= cause
    wake()
  }
  worker.on("message", (message: FromThread) => {
    if (failure !== undefined) return
    if (message.failure !== undefined) {
      return fail(causeOf(Object.assign(new Error(message.failure.message), message.failure)))
    }
    unanswered--
    try {
      onAnswer(message.answer)
    } catch (thrown) {
      return fail(Cause.die(thrown))
    }
    wake()
  })
  worker.on("messageerror", (error) => fail(Cause.die(error)))
  worker.on("error", (error) => fail(causeOf(error as Failure)))
  worker.on("exit", () =>
    fail(Cause.fail(new ThreadFailed({ cause: new Error(`the thread ${name} ended before its work was done`) }))),
  )

  const until = (isReady: () => boolean) =>
    Effect.callback<void, ThreadFailed>((resume) => {
      const check = () => {
        if (failure === undefined && !isReady()) return
        waiting.delete(check)
        resume(failure === undefined ? Effect.void : Effect.failCause(failure))
      }
      waiting.add(check)
      check()
      return Effect.sync(() => waiting.delete(check))
    })
  return {
    send: (ask, transfer = []) => {
      worker.postMessage(ask, transfer)
      unanswered++
    },
    room: until(() => unanswered < ahead),
    drain: until(() => unanswered === 0),
  } satisfies Thread<unknown>
})
