/**
 * CSV to rows, compared with csv-parse: `node test/bench/csv.ts [megabytes] [bytes per record] [rounds]`.
 *
 * Three files: cells in quotes with delimiters, quotes and line ends in them, as completions have; cells
 * without quotes; many short cells. csv-parse is used as its documentation has it, a Node stream of
 * objects. Both read the same file in turns, in one process; the medians are compared.
 */
import { NodeServices } from "@effect/platform-node"
import { Clock, Console, Effect, FileSystem, Result, Stream } from "effect"
import { parse } from "csv-parse"
import { createReadStream } from "node:fs"
import { join } from "node:path"
import * as Csv from "../../src/source/format/csv/Csv.ts"
import { median } from "./median.ts"

const megabytes = Number(process.argv[2] ?? 100)
const bytesPerRecord = Number(process.argv[3] ?? 2_000)
const rounds = Number(process.argv[4] ?? 3)

const words = "the quick brown fox jumps over a lazy dog and then — “naïve” as ever — sleeps 12 hours".split(" ")
const prose = (seed: number, length: number) => {
  let text = ""
  for (let i = seed; text.length < length; i = (i * 31 + 7) % 1_000_003) text += `${words[i % words.length]} `
  return text
}
const quoted = (seed: number, length: number) => `"${prose(seed, length).replaceAll("fox ", '""fox"",\n')}"`

const files = {
  "quoted texts": (i: number) =>
    `item-${i},${quoted(i, bytesPerRecord * 0.2)},${quoted(i + 1, bytesPerRecord * 0.4)},${quoted(i + 2, bytesPerRecord * 0.4)}\n`,
  "plain texts": (i: number) =>
    `item-${i},${prose(i, bytesPerRecord * 0.2)},${prose(i + 1, bytesPerRecord * 0.4)},${prose(i + 2, bytesPerRecord * 0.4)}\n`,
  "short cells": (i: number) => `item-${i},${i % 7},"${i % 11}",yes\n`,
}

const csvParse = async (file: string) => {
  let rows = 0
  for await (const _ of createReadStream(file).pipe(parse({ columns: true }))) rows++
  return rows
}

const prefstream = Effect.fn(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.stream(file).pipe(
    Csv.rows(file, { delimiter: ",", header: true, description: "CSV" }),
    Stream.chunks,
    Stream.runFold(
      () => 0,
      (count, rows) => count + rows.filter(Result.isSuccess).length,
    ),
  )
})

await Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  for (const [name, record] of Object.entries(files)) {
    const file = join(directory, `${name}.csv`)
    const count = Math.ceil((megabytes * 1e6) / record(1).length)
    yield* Stream.range(1, count).pipe(
      Stream.map(record),
      Stream.prepend(["id,prompt,a,b\n"]),
      Stream.encodeText,
      Stream.run(fs.sink(file)),
    )
    const size = Number((yield* fs.stat(file)).size)
    const times = { csvParse: [] as Array<number>, prefstream: [] as Array<number> }
    const readers = { csvParse: Effect.promise(() => csvParse(file)), prefstream: prefstream(file) }
    // The first round warms up.
    for (let round = 0; round <= rounds; round++) {
      for (const reader of ["csvParse", "prefstream"] as const) {
        const start = yield* Clock.monotonicTimeNanos
        const rows = yield* readers[reader]
        const end = yield* Clock.monotonicTimeNanos
        if (rows !== count) return yield* Effect.die(`${reader} read ${rows} of ${count} records`)
        if (round > 0) times[reader].push(Number(end - start) / 1e9)
      }
    }
    const speed = { csvParse: size / 1e6 / median(times.csvParse), prefstream: size / 1e6 / median(times.prefstream) }
    yield* Console.log(
      `${name}, ${count} records, ${(size / 1e6).toFixed(0)} MB: csv-parse ${speed.csvParse.toFixed(0)} MB/s, prefstream ${speed.prefstream.toFixed(0)} MB/s, ratio ${(speed.prefstream / speed.csvParse).toFixed(1)}`,
    )
  }
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer), Effect.runPromise)
