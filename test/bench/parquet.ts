/**
 * Parquet to rows, against `hyparquet` alone: `node test/bench/parquet.ts [megabytes] [rounds]`.
 *
 * The file is written as a dataset's are (zstd, row groups of 32 MiB): a prompt, two to four completions
 * and metadata a row. `hyparquet` reads it by row group with `parquetReadObjects` and Node's zstd. Both read
 * the same file in turns, in one process; the medians are compared.
 */
import { NodeServices } from "@effect/platform-node"
import { Clock, Console, Effect, FileSystem, Result, Stream } from "effect"
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet"
import * as Dataset from "../../src/dataset/file/Parquet.ts"
import { encoder } from "../../src/dataset/file/EncodedRow.ts"
import * as OutputFile from "../../src/node/OutputFile.ts"
import * as Zstd from "../../src/node/Zstd.ts"
import * as Parquet from "../../src/source/format/parquet/Parquet.ts"
import * as LocalFile from "../../src/source/place/LocalFile.ts"
import { median } from "./median.ts"

const megabytes = Number(process.argv[2] ?? 300)
const rounds = Number(process.argv[3] ?? 5)

const words =
  "the of and to in is you that it was for on are as with his they at be this have from or one had by — “naïve” word but not what all were we when your can said there use an each which she do how their if will up other about".split(
    " ",
  )

/** A linear congruential generator (Numerical Recipes' constants), so that the same call gives the same file. */
let state = 42
const random = (n: number) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state % n
}
const prose = (length: number) => Array.from({ length }, () => words[random(words.length)]).join(" ")

const rowOf = (i: number) => ({
  prompt: `${i}: ${prose(60)}?`,
  completions: Array.from({ length: 2 + random(3) }, () => prose(150)),
  metadata: JSON.stringify({ ordinal: i, topic: words[random(words.length)] }),
})

const write = (directory: string) => {
  const file = OutputFile.create(directory, "bench.parquet")
  const writer = Dataset.make(file, { prompt: "string", completions: { list: "string" }, metadata: "string" })
  const encode = encoder()
  let text = 0
  let count = 0
  while (text < megabytes * 1e6) {
    const rows = Array.from({ length: 256 }, () => encode(rowOf(count++)))
    for (const { size } of rows) text += size
    for (const row of rows) writer.write(row)
  }
  writer.finish()
  return count
}

const hyparquet = async (path: string) => {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  const compressors = { ZSTD: (bytes: Uint8Array, size: number) => Zstd.decompress(bytes, size) }
  let rowStart = 0
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows)
    const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors })
    rowStart += rows.length
  }
  return rowStart
}

const prefstream = Effect.fn(function* (path: string) {
  const file = yield* Parquet.open(yield* LocalFile.open(path))
  return yield* file.rows().pipe(
    Stream.chunks,
    Stream.runFold(
      () => 0,
      (count, rows) => count + rows.filter(Result.isSuccess).length,
    ),
  )
}, Effect.scoped)

await Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const count = write(directory)
  const path = `${directory}/bench.parquet`
  const size = Number((yield* fs.stat(path)).size)
  const times = { hyparquet: [] as Array<number>, prefstream: [] as Array<number> }
  const readers = { hyparquet: Effect.promise(() => hyparquet(path)), prefstream: prefstream(path) }
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const name of ["hyparquet", "prefstream"] as const) {
      const start = yield* Clock.monotonicTimeNanos
      const rows = yield* readers[name]
      const end = yield* Clock.monotonicTimeNanos
      if (rows !== count) return yield* Effect.die(`${name} read ${rows} of ${count} rows`)
      if (round > 0) times[name].push(Number(end - start) / 1e9)
    }
  }
  yield* Console.log(`${count} rows, ${megabytes} MB of text in ${(size / 1e6).toFixed(0)} MB of Parquet`)
  for (const name of ["hyparquet", "prefstream"] as const) {
    const seconds = median(times[name])
    yield* Console.log(
      `${name}: ${(count / seconds).toFixed(0)} rows/s, ${(megabytes / seconds).toFixed(0)} MB/s of text (${times[name].map((time) => time.toFixed(2)).join(", ")} s)`,
    )
  }
  yield* Console.log(`ratio ${(median(times.hyparquet) / median(times.prefstream)).toFixed(2)}`)
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer), Effect.runPromise)
