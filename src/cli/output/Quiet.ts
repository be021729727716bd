/**
 * Adapter: keeps the output of a command in memory (at most the last 1,000 writes) instead of printing it. If the
 * command fails, and `isNews` returns true for the cause, the output is printed at the end.
 */
import { Console as NodeConsole } from "node:console"
import { Writable } from "node:stream"
import { type Cause, Console, Effect, Exit, Sink, Stdio } from "effect"

interface Held {
  readonly to: "stdout" | "stderr"
  readonly text: string
}

const maxHeld = 1000

export const holdBackUnless = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  isNews: (cause: Cause.Cause<E>) => boolean,
  options: { readonly stdout: boolean },
): Effect.fn.Return<A, E, R | Stdio.Stdio> {
  const console = yield* Console.Console
  const stdio = yield* Stdio.Stdio
  const held: Array<Held> = []
  let dropped = 0
  const hold = (to: Held["to"]) =>
    new Writable({
      decodeStrings: false,
      write: (chunk: string | Uint8Array, _, done) => {
        held.push({ to, text: String(chunk) })
        if (held.length > maxHeld) {
          held.shift()
          dropped++
        }
        done()
      },
    })
  const stderr = hold("stderr")
  const muted: Console.Console = new NodeConsole(hold("stdout"), stderr)
  const stderrMuted = Object.assign(new NodeConsole(stderr, stderr), {
    log: (...texts: ReadonlyArray<unknown>) => console.log(...texts),
  })
  const silent = Stdio.make({ ...stdio, stderr: () => Sink.drain, stderrIsTerminal: Effect.succeed(false) })
  const show = Effect.sync(() => {
    if (dropped > 0) console.error(`… ${dropped} earlier lines omitted`)
    for (const { text, to } of held) {
      if (to === "stdout") console.log(text.replace(/\n$/, ""))
      else console.error(text.replace(/\n$/, ""))
    }
  })
  return yield* effect.pipe(
    Effect.provideService(Console.Console, options.stdout ? muted : stderrMuted),
    Effect.provideService(Stdio.Stdio, silent),
    Effect.onExit((exit) => (Exit.isFailure(exit) && isNews(exit.cause) ? show : Effect.void)),
  )
})
