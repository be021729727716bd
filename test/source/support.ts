/** Real files with given contents, and what a source makes of them. */
import { NodeServices } from "@effect/platform-node"
import { it } from "@effect/vitest"
import { Array, Effect, FileSystem, Path, Result, type Scope, Stream } from "effect"
import * as Conversation from "../../src/domain/Conversation.ts"
import type { Source, SourceRecord } from "../../src/source/Source.ts"
import { type Body, effectTest, liveOver, testOver } from "../support/effectTest.ts"

export const platform = NodeServices.layer

type Needs = Scope.Scope | NodeServices.NodeServices

/** A test as a generator, with real files and a scope. */
export const test = Object.assign(testOver(platform), {
  /** With real time, too. */
  live: liveOver(platform),
  skipIf: (condition: boolean) =>
    effectTest<Needs>((name, effect) => it.effect.skipIf(condition)(name, () => Effect.provide(effect(), platform))),
  /** A test for each case. */
  each:
    <A>(cases: ReadonlyArray<A>) =>
    (name: string, body: (one: A) => ReturnType<Body<Needs>>) =>
      it.effect.each(cases)(name, (one) =>
        Effect.provide(
          Effect.gen(() => body(one)),
          platform,
        ),
      ),
})

/** Writes files into a new directory that lives as long as the scope; gives their paths. */
export const writeFiles = Effect.fn(function* (files: Readonly<Record<string, string | Uint8Array>>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped({ prefix: "prefstream-source-" })
  const paths: Array<string> = []
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, name)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true })
    yield* typeof content === "string" ? fs.writeFileString(file, content) : fs.writeFile(file, content)
    paths.push(file)
  }
  return paths
})

export const collect = <E, R>(source: Source<E, R>) =>
  Effect.map(Stream.runCollect(source.records), (records) => ({
    records,
    items: Array.getSuccesses(records),
    rejects: Array.getFailures(records),
  }))

/** One line for each record: enough to see at a glance what became of it. */
export const summary = (records: ReadonlyArray<SourceRecord>): ReadonlyArray<string> =>
  records.map((record) =>
    Result.match(record, {
      onSuccess: ({ item, origin }) => `${origin.line} item ${item.id ?? Conversation.render(item.prompt)}`,
      onFailure: ({ line, code, reason }) => `${line} ${code} ${reason}`,
    }),
  )

export const toLines = (values: ReadonlyArray<unknown>): string =>
  values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`).join("")

/** Each cell in quotes: texts as they are, nothing for what is missing, other values as JSON. */
export const csvOf = (rows: ReadonlyArray<{ readonly [name: string]: unknown }>): string => {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))
  return [names, ...rows.map((row) => names.map((name) => row[name] ?? ""))]
    .map((cells) => `${cells.map((cell) => `"${textOf(cell).replaceAll('"', '""')}"`).join(",")}\n`)
    .join("")
}
