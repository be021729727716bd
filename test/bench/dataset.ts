/**
 * Rows per second and peak memory of writing a dataset: `node test/bench/dataset.ts [rows] [bytes per row]`.
 *
 * The text is drawn from a fixed vocabulary with a fixed seed: it compresses about
 * as prose does, and each run writes the same bytes.
 */
import { NodeServices } from "@effect/platform-node"
import { Duration, Effect, FileSystem, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"

const rows = Number(process.argv[2] ?? 200_000)
const bytesPerRow = Number(process.argv[3] ?? 2_000)

let seed = 1
const random = (below: number) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

const letters = "etaoinshrdlucmfwypvbgkqjxz"
const vocabulary = Array.from({ length: 20_000 }, () =>
  Array.from({ length: 2 + random(9) }, () => letters[Math.min(random(26), random(26))]!).join(""),
)
const prose = (length: number) => {
  let text = ""
  while (text.length < length) text += vocabulary[Math.min(random(20_000), random(20_000), random(20_000))]! + " "
  return text
}

const pair = (i: number): PreferencePair => ({
  prompt: prose(bytesPerRow * 0.15),
  chosen: prose(bytesPerRow * 0.35),
  rejected: prose(bytesPerRow * 0.35),
  rationale: i % 4 === 0 ? null : prose(bytesPerRow * 0.1),
  item_id: i.toString(16).padStart(32, "0"),
  task_id: `task-${Math.floor(i / 20)}`,
  chosen_index: i % 2,
  rejected_index: (i + 1) % 2,
  weight: 1,
  votes: 1,
  agreement: null,
  vote_margin: null,
  metadata: `{"source":"bench","row":${i}}`,
})

// What making the rows costs is taken once beforehand, and then subtracted.
const pairs = Stream.range(0, rows - 1).pipe(
  Stream.rechunk(256),
  Stream.mapArray((chunk) => chunk.map(pair) as [PreferencePair, ...Array<PreferencePair>]),
)

const seconds = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const [duration, value] = yield* Effect.timed(effect)
  return { value, seconds: Duration.toSeconds(duration) }
})

const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const making = yield* seconds(Stream.runDrain(pairs))
  const before = process.memoryUsage.rss()
  const writing = yield* seconds(Dataset.write(pairs, { directory: `${directory}/dataset` }))
  const spent = writing.seconds - making.seconds
  console.log(
    JSON.stringify({
      rows,
      bytes_per_row: bytesPerRow,
      seconds_writing: Number(spent.toFixed(2)),
      seconds_making_rows: Number(making.seconds.toFixed(2)),
      rows_per_second: Math.round(rows / spent),
      rss_before_mb: Math.round(before / 1e6),
      rss_peak_mb: Math.round(process.resourceUsage().maxRSS / 1e3),
      files: writing.value.files.map(({ path, bytes }) => ({ path, bytes })),
    }),
  )
})

await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(NodeServices.layer)))
