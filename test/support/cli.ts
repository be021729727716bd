/**
 * The command line in this process: quicker than a process of its own, with what it
 * writes captured. The exit status of a real process is `process.ts`'s to see.
 */
import { Console as NodeConsole } from "node:console"
import { writeFile } from "node:fs/promises"
import { Writable } from "node:stream"
import { ConfigProvider, Console, Effect, Sink, Stdio, Stream } from "effect"
import { main } from "../../src/cli/Main.ts"
import type { RunReport } from "../../src/pipeline/RunReport.ts"
import type { ScriptedService } from "./ScriptedService.ts"

export interface Said {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const capture = () => {
  const chunks: Array<string> = []
  const add = (chunk: string | Uint8Array) => void chunks.push(Buffer.from(chunk).toString())
  return {
    text: () => chunks.join(""),
    stream: new Writable({
      decodeStrings: false,
      write: (chunk: string | Uint8Array, _, done) => {
        add(chunk)
        done()
      },
    }),
    sink: () => Sink.forEach((chunk: string | Uint8Array) => Effect.sync(() => add(chunk))),
  }
}

/** `prefstream ARGS` with the settings of the given provider alone; no terminal. */
export const cliWith = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  provider: ConfigProvider.ConfigProvider,
) {
  const stdout = capture()
  const stderr = capture()
  const status = yield* main(args).pipe(
    Effect.provideService(Console.Console, new NodeConsole(stdout.stream, stderr.stream)),
    Effect.provideService(
      Stdio.Stdio,
      Stdio.make({ args: Effect.succeed(args), stdin: Stream.empty, stdout: stdout.sink, stderr: stderr.sink }),
    ),
    Effect.provideService(ConfigProvider.ConfigProvider, provider),
  )
  return { status, stdout: stdout.text(), stderr: stderr.text() } satisfies Said
})

/** `prefstream ARGS` in this environment, of which the test's own process has no part. */
export const cli = (args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  cliWith(args, ConfigProvider.fromEnv({ env }))

/** The report that `--json` prints; fails unless it is the one line on standard output. */
export const reportOf = ({ stderr, stdout }: Pick<Said, "stdout" | "stderr">): RunReport => {
  const [line = "", ...rest] = stdout.split("\n")
  if (rest.length !== 1 || rest[0] !== "") throw new Error(`expected one line of JSON, found:\n${stdout}${stderr}`)
  return JSON.parse(line) as RunReport
}

/** The environment that leads to a service. */
export const to = ({ baseUrl, token }: Pick<ScriptedService, "baseUrl" | "token">) => ({
  PREFSTREAM_BASE_URL: baseUrl,
  PREFSTREAM_TOKEN: token,
})

/** Flags for a service that answers at once. */
export const quick = ["--poll-min", "5ms", "--poll-max", "20ms", "--requests-per-second", "1000"]

/** The lines of `n` different items with two completions each. */
export const itemLines = (n: number, from = 0): ReadonlyArray<string> =>
  Array.from({ length: n }, (_, i) =>
    JSON.stringify({ id: `item-${from + i}`, prompt: `prompt ${from + i}`, completions: [`a ${from + i}`, "b"] }),
  )

export const write = (file: string, lines: ReadonlyArray<string | Uint8Array>) =>
  Effect.promise(() => writeFile(file, Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from("\n")]))))
