/**
 * Where a run's time goes: the threads of a whole run over time, and what each of them does, by V8's profiler, which makes the run
 * slower.
 *
 *     node test/bench/threads.ts [ITEMS] [PLOT.svg]      (default 50000; needs arena-hard and `npm run build`)
 *
 * The items and the service are those of wholeRun.ts.
 */
import { spawnSync } from "node:child_process"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { prepare } from "./arenaRun.ts"
import { numbers } from "./setup.ts"

const [items] = numbers(50_000)
const file = process.argv[3]
const { command, scratch, service } = await prepare(items)

const { status, stderr } = spawnSync(
  process.execPath,
  ["--cpu-prof", "--cpu-prof-dir", scratch, "--cpu-prof-interval", "1000", ...command],
  { encoding: "utf8", env: { ...process.env, PREFSTREAM_TOKEN: "bench" } },
)
service.kill()
if (status !== 0) throw new Error(stderr)

interface Profile {
  readonly nodes: ReadonlyArray<{
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
  }>
  readonly startTime: number
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
}

const stages = { DatasetStage: "writes", PlainStage: "reads", SignatureStage: "signatures" }

const threads = globSync(`${scratch}/*.cpuprofile`)
  .map((profile) => JSON.parse(readFileSync(profile, "utf8")) as Profile)
  .toSorted((a, b) => a.startTime - b.startTime)
  .map((profile, i) => {
    const urls = profile.nodes.map(({ callFrame }) => callFrame.url)
    const stage = Object.entries(stages).find(([name]) => urls.some((url) => url.includes(name)))
    return { ...profile, name: i === 0 ? "main" : (stage?.[1] ?? "another") }
  })
const begun = threads[0]!.startTime
const end = Math.max(...threads.map(({ startTime, timeDeltas }) => startTime + timeDeltas.reduce((a, b) => a + b, 0)))
const seconds = (end - begun) / 1e6

/** Microseconds of each slice of the run in which the thread was busy, and of each function. */
const usageOf = ({ nodes, samples, startTime, timeDeltas }: Profile, slices: number) => {
  const names = new Map(nodes.map(({ callFrame, id }) => [id, callFrame.functionName]))
  const busy = Array.from({ length: slices }, () => 0)
  const functions = new Map<string, number>()
  let at = startTime
  samples.forEach((sample, i) => {
    const delta = timeDeltas[i]!
    at += delta
    const name = names.get(sample) ?? ""
    if (name === "(idle)" || name === "(program)") return
    busy[Math.min(slices - 1, Math.floor(((at - begun) / (end - begun)) * slices))]! += delta
    functions.set(name, (functions.get(name) ?? 0) + delta)
  })
  return { busy, functions }
}

const slices = 120
const usages = threads.map((thread) => ({ name: thread.name, ...usageOf(thread, slices) }))
const busySeconds = (busy: ReadonlyArray<number>) => busy.reduce((a, b) => a + b, 0) / 1e6

console.log(`${items} items in ${seconds.toFixed(1)} s, with the profiler`)
console.table(
  usages.map(({ busy, functions, name }) => ({
    thread: name,
    "busy s": busySeconds(busy).toFixed(1),
    "µs/item": Math.round((busySeconds(busy) / items) * 1e6),
    "garbage, s": ((functions.get("(garbage collector)") ?? 0) / 1e6).toFixed(1),
  })),
)

/** For each thread, a band whose filled part is the busy one. */
const plot = () => {
  const [width, left, band, gap] = [720, 80, 46, 12]
  const height = 30 + usages.length * (band + gap) + 24
  const x = (slice: number) => left + (slice / slices) * (width - left - 10)
  const bands = usages.map(({ busy, name }, i) => {
    const bottom = 30 + i * (band + gap) + band
    const sliceMicros = (end - begun) / slices
    const line = busy.map((micros, slice) => {
      const y = (bottom - Math.min(1, micros / sliceMicros) * band).toFixed(1)
      return `${x(slice).toFixed(1)},${y} ${x(slice + 1).toFixed(1)},${y}`
    })
    return (
      `<rect x="${left}" y="${bottom - band}" width="${width - left - 10}" height="${band}" fill="#eef2f7"/>` +
      `<polygon points="${left},${bottom} ${line.join(" ")} ${x(slices)},${bottom}" fill="#2563a8"/>` +
      `<text x="${left - 8}" y="${bottom - band / 2 + 4}" text-anchor="end">${name}</text>`
    )
  })
  const marks = Array.from({ length: 7 }, (_, i) => {
    const at = left + (i / 6) * (width - left - 10)
    return `<text x="${at.toFixed(1)}" y="${height - 6}" text-anchor="${i === 6 ? "end" : "middle"}">${((seconds * i) / 6).toFixed(0)} s</text>`
  })
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#333">` +
    `<rect width="${width}" height="${height}" fill="white"/><text x="${left}" y="18">Share of the time that each thread is busy, a run over ${items} items</text>` +
    `${bands.join("")}${marks.join("")}</svg>\n`
  )
}
if (file !== undefined) writeFileSync(file, plot())
