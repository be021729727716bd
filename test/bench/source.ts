/**
 * JSONL to validated items, against the least that any program must do for it:
 * `node test/bench/source.ts [megabytes] [bytes per line] [rounds]`.
 *
 * The bare loop reads 64 kB at a time, decodes, splits and parses each piece in one
 * step, and checks nothing. Both read the same file in turns, in one process; the
 * medians are compared.
 */
import { NodeServices } from "@effect/platform-node"
import { Clock, Console, Effect, FileSystem, Stream } from "effect"
import { open } from "node:fs/promises"
import { join } from "node:path"
import * as Source from "../../src/source/Source.ts"
import { median } from "./median.ts"

const megabytes = Number(process.argv[2] ?? 200)
const bytesPerLine = Number(process.argv[3] ?? 2_000)
const rounds = Number(process.argv[4] ?? 5)

const words = "the quick brown fox jumps over a lazy dog and then — “naïve” as ever — sleeps 12 hours".split(" ")
const prose = (seed: number, length: number) => {
  let text = ""
  for (let i = seed; text.length < length; i = (i * 31 + 7) % 1_000_003) text += `${words[i % words.length]} `
  return text
}

const line = (i: number) =>
  `${JSON.stringify({
    id: `item-${i}`,
    prompt: prose(i, bytesPerLine * 0.2),
    completions: [prose(i + 1, bytesPerLine * 0.4), prose(i + 2, bytesPerLine * 0.4)],
    metadata: { row: i, topic: "bench" },
  })}\n`

const bareLoop = async (file: string) => {
  const handle = await open(file)
  const decoder = new TextDecoder()
  let rest = ""
  let items = 0
  while (true) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(65_536), 0, 65_536, null)
    if (bytesRead === 0) break
    const lines = (rest + decoder.decode(buffer.subarray(0, bytesRead), { stream: true })).split("\n")
    rest = lines.pop()!
    items += lines.map((text) => JSON.parse(text)).length
  }
  await handle.close()
  return items
}

const prefstream = (file: string) =>
  Source.files(file).records.pipe(
    Stream.chunks,
    Stream.runFold(
      () => 0,
      (items, records) => items + records.filter((record) => record._tag === "Success").length,
    ),
  )

await Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const file = join(yield* fs.makeTempDirectoryScoped(), "bench.jsonl")
  const rows = Math.ceil((megabytes * 1e6) / line(0).length)
  yield* Stream.range(1, rows).pipe(Stream.map(line), Stream.encodeText, Stream.run(fs.sink(file)))
  const size = Number((yield* fs.stat(file)).size)
  const times = { bare: [] as Array<number>, prefstream: [] as Array<number> }
  const readers = { bare: Effect.promise(() => bareLoop(file)), prefstream: prefstream(file) }
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const name of ["bare", "prefstream"] as const) {
      const start = yield* Clock.monotonicTimeNanos
      const items = yield* readers[name]
      const end = yield* Clock.monotonicTimeNanos
      if (items !== rows) return yield* Effect.die(`${name} read ${items} of ${rows} items`)
      if (round > 0) times[name].push(Number(end - start) / 1e9)
    }
  }
  const speed = { bare: size / 1e6 / median(times.bare), prefstream: size / 1e6 / median(times.prefstream) }
  yield* Console.log(
    `${rows} lines, ${(size / 1e6).toFixed(0)} MB: bare loop ${speed.bare.toFixed(0)} MB/s, prefstream ${speed.prefstream.toFixed(0)} MB/s, ratio ${(speed.prefstream / speed.bare).toFixed(2)}`,
  )
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer), Effect.runPromise)
