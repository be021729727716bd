/**
 * The command line in this process: quicker than a process of its own, with what it
 * writes captured. The exit status of a real process is `process.ts`'s to see.
 */
import { Console as NodeConsole } from "node:console"
import { writeFile } from "node:fs/promises"
import { DatabaseSync } from "node:sqlite"
import { Writable } from "node:stream"
import { assert } from "@effect/vitest"
import { ConfigProvider, Console, Context, Effect, Fiber, FileSystem, Queue, Sink, Stdio, Stream } from "effect"
import { main } from "../../src/cli/Main.ts"
import * as Signals from "../../src/cli/Signals.ts"
import type { QualityReport } from "../../src/domain/QualityReport.ts"
import type { VoteRow } from "../../src/domain/VoteRow.ts"
import type { RunReport } from "../../src/pipeline/RunReport.ts"
import { browser } from "../service/web/http.ts"
import { password } from "../service/web/support.ts"
import { temporaryDirectory } from "./job.ts"
import { root } from "./process.ts"
import type { ScriptedService } from "./ScriptedService.ts"

export interface Said {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const capture = () => {
  const chunks: Array<string> = []
  const readers = new Set<() => void>()
  const text = () => chunks.join("")
  const add = (chunk: string | Uint8Array) => {
    chunks.push(Buffer.from(chunk).toString())
    for (const read of readers) read()
  }
  return {
    text,
    stream: new Writable({
      decodeStrings: false,
      write: (chunk: string | Uint8Array, _, done) => {
        add(chunk)
        done()
      },
    }),
    sink: () => Sink.forEach((chunk: string | Uint8Array) => Effect.sync(() => add(chunk))),
    /** All that was written, as soon as it matches. */
    matching: (pattern: RegExp) =>
      Effect.callback<string>((resume) => {
        const read = () => {
          if (!pattern.test(text())) return
          readers.delete(read)
          resume(Effect.sync(text))
        }
        readers.add(read)
        read()
        return Effect.sync(() => readers.delete(read))
      }),
  }
}

/** Whether somebody can answer questions. */
export const AtTerminal = Context.Reference<boolean>("test/cli/AtTerminal", { defaultValue: () => false })

type Output = ReturnType<typeof capture>

const writingTo =
  (args: ReadonlyArray<string>, provider: ConfigProvider.ConfigProvider, stdout: Output, stderr: Output) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provideService(Console.Console, new NodeConsole(stdout.stream, stderr.stream)),
      Effect.provideService(
        Stdio.Stdio,
        Stdio.make({
          args: Effect.succeed(args),
          stdin: Stream.empty,
          stdinIsTerminal: AtTerminal,
          stdout: stdout.sink,
          stderr: stderr.sink,
        }),
      ),
      Effect.provideService(ConfigProvider.ConfigProvider, provider),
    )

/** `prefstream ARGS` with the settings of the given provider alone; no terminal. */
export const cliWith = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  provider: ConfigProvider.ConfigProvider,
) {
  const stdout = capture()
  const stderr = capture()
  const status = yield* writingTo(args, provider, stdout, stderr)(main(args))
  return { status, stdout: stdout.text(), stderr: stderr.text() } satisfies Said
})

/** `prefstream ARGS` in this environment, of which the test's own process has no part. */
export const cli = (args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  cliWith(args, ConfigProvider.fromEnv({ env }))

/** The same in a folder, which is this process's own meanwhile. */
export const cliIn = (folder: string, args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  Effect.scoped(Effect.andThen(entered(folder), cli(args, env)))

/** This process's own folder, for the time of a scope. */
export const entered = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.cwd()
      process.chdir(folder)
      return before
    }),
    (before) => Effect.sync(() => process.chdir(before)),
  )

/** Changes a database behind prefstream's back. */
export const execute = (file: string, statement: string) => {
  const database = new DatabaseSync(file)
  database.exec(statement)
  database.close()
}

/** A command while it goes on: stopped as by a signal, and in any case with the test's scope. */
export const cliStarted = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Record<string, string> = {}) {
  const stdout = capture()
  const stderr = capture()
  const signals = yield* Queue.unbounded<Signals.Signal>()
  const command = writingTo(args, ConfigProvider.fromEnv({ env }), stdout, stderr)
  const fiber = yield* Effect.forkScoped(command(Signals.supervise(main(args), signals)), { startImmediately: true })
  const ended = Effect.map(Fiber.join(fiber), (status): Said => ({
    status,
    stdout: stdout.text(),
    stderr: stderr.text(),
  }))
  const matching = (output: Output) => (pattern: RegExp) =>
    Effect.raceFirst(
      output.matching(pattern),
      Effect.flatMap(ended, (said) =>
        pattern.test(output.text())
          ? Effect.succeed(output.text())
          : Effect.die(new Error(`ended without saying ${pattern}: ${said.stdout}${said.stderr}`)),
      ),
    )
  return {
    ended,
    /** The output on stdout, as soon as it matches. */
    says: matching(stdout),
    /** The same of stderr. */
    talks: matching(stderr),
    /** Ends it as the signal does in a process; gives what it printed. */
    stop: (signal: Signals.Signal = "SIGTERM") => Effect.andThen(Queue.offer(signals, signal), ended),
  }
})

/** `prefstream serve` in this process, on a free port; the environment that leads to it. */
export const cliServed = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  token = "token-of-a-test",
  env: Record<string, string> = {},
) {
  const service = yield* cliStarted(["serve", "--port", "0", ...args], { ...env, PREFSTREAM_TOKEN: token })
  const said = yield* service.says(/PREFSTREAM_BASE_URL=\S+\n/)
  const [, baseUrl = ""] = /PREFSTREAM_BASE_URL=(\S+)/.exec(said) ?? []
  return { service, env: { PREFSTREAM_BASE_URL: baseUrl, PREFSTREAM_TOKEN: token } }
})

/** The browser of the first operator of a service that `cliServed` has started. */
export const firstOperator = Effect.fnUntraced(function* ({
  env,
  service,
}: Effect.Success<ReturnType<typeof cliServed>>) {
  const [, code] = /#set-up=(\S+)/.exec(yield* service.talks(/#set-up=\S+\n/)) ?? []
  const operator = browser(new URL(env.PREFSTREAM_BASE_URL).origin)
  const { status } = yield* operator.ask("POST", "/dashboard/api/set-up", { code, name: "Op", password })
  assert.strictEqual(status, 200)
  return operator
})

/** Fails the test unless the command ends with this status, and stderr matches. */
export const ends =
  (status: number, why = /(?:)/) =>
  <A extends Pick<Said, "stdout" | "stderr"> & { readonly status: number | null }, E, R>(
    command: Effect.Effect<A, E, R>,
  ) =>
    Effect.tap(command, (said) =>
      Effect.sync(() => {
        assert.strictEqual(said.status, status, said.stdout + said.stderr)
        assert.match(said.stderr, why)
      }),
    )

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

/** Writes texts and bytes as lines; other values as JSON. */
export const write = (file: string, lines: ReadonlyArray<unknown>) =>
  Effect.promise(() => {
    const bytes = (line: unknown) =>
      Buffer.from(typeof line === "string" || line instanceof Uint8Array ? line : JSON.stringify(line))
    return writeFile(file, Buffer.concat(lines.flatMap((line) => [bytes(line), Buffer.from("\n")])))
  })

/** A folder of the test, with these lines, or so many different items, in `items.jsonl`. */
export const folderWithItems = (lines: number | ReadonlyArray<unknown>) =>
  Effect.tap(temporaryDirectory, (folder) =>
    write(`${folder}/items.jsonl`, typeof lines === "number" ? itemLines(lines) : lines),
  )

/** A folder in which the recipes find their data, and leave what they write. */
export const recipesFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* temporaryDirectory
  for (const name of ["data", "pipelines"]) yield* fs.symlink(`${root}${name}`, `${folder}/${name}`)
  return folder
})

type Json = ReturnType<typeof JSON.parse>

/** What a command printed with `--json`. */
export const jsonIn = ({ stderr, stdout }: Pick<Said, "stdout" | "stderr">): Json => {
  if (stdout === "") throw new Error(`expected JSON, found: ${stderr}`)
  return JSON.parse(stdout)
}

/** What `prefstream ARGS --json` prints. */
export const printed = <A = Json>(args: ReadonlyArray<string>, env?: Record<string, string>) =>
  Effect.map(cli([...args, "--json"], env), (said): A => jsonIn(said))

/** The values of JSON Lines. */
export const rowsIn = (text: string): ReadonlyArray<Json> =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

export const readRows = <A = Json>(file: string) =>
  FileSystem.FileSystem.use((fs) => Effect.map(fs.readFileString(file), (text): ReadonlyArray<A> => rowsIn(text)))

export const readJson = <A = Json>(file: string) =>
  FileSystem.FileSystem.use((fs) => Effect.map(fs.readFileString(file), (text): A => JSON.parse(text)))

/** The report on the quality of a job's dataset. */
export const qualityOf = (job: string) => readJson<QualityReport>(`${job}/dataset/report.json`)

/** The votes of a job, as `export-votes` prints them. */
export const votesOf = (job: string, ...flags: ReadonlyArray<string>) =>
  cli(["export-votes", "--dir", job, ...flags]).pipe(
    ends(0),
    Effect.map(({ stdout }): ReadonlyArray<VoteRow> => rowsIn(stdout)),
  )

/** Imports votes into the job of this folder, from its `votes.jsonl`. */
export const importVotes = Effect.fnUntraced(function* (
  job: string,
  votes: ReadonlyArray<unknown>,
  ...flags: ReadonlyArray<string>
) {
  yield* FileSystem.FileSystem.use((fs) => fs.makeDirectory(job, { recursive: true }))
  yield* write(`${job}/votes.jsonl`, votes)
  yield* cli(["import", `${job}/votes.jsonl`, "--dir", job, ...flags]).pipe(ends(0))
})
