import { randomInt } from "node:crypto"
import { existsSync, globSync, statfsSync } from "node:fs"
import { availableParallelism } from "node:os"
import { resolve } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

// What a process of the tests has compiled, the next one need not compile again.
process.env["NODE_COMPILE_CACHE"] ??= resolve(import.meta.dirname, "node_modules/.cache/compiled")

// Temporary files are in memory if there is room: hundreds of ledgers would wait for the disk at each commit. A killed
// process loses nothing that it wrote, whether the disk has it or not.
const memory = "/dev/shm"
const roomIn = (path: string) => (existsSync(path) ? statfsSync(path).bavail * statfsSync(path).bsize : 0)
if (roomIn(memory) > 8e9) process.env["TMPDIR"] ??= memory

// Tests that kill processes and disturb connections draw their moments, and take as long as all others together. So a run
// draws some of their files, too: every second one in CI, else every fourth; `ALL_CASES=1`, or a path, runs all.
const disturbing = globSync("test/{crash,faults}/*.test.ts").toSorted()
const share = process.env["ALL_CASES"] !== undefined ? 1 : process.env["CI"] === undefined ? 4 : 2
const draw = Number(process.env["DISTURBING"] ?? randomInt(share))
const isNamed = process.argv.slice(2).some((argument) => argument.startsWith("test"))
const leftOut = isNamed ? [] : disturbing.filter((_, i) => i % share !== draw)
if (leftOut.length > 0 && process.env["VITEST"] !== undefined) {
  // oxlint-disable-next-line no-console -- a run says what it leaves out
  console.log(`DISTURBING=${draw} of ${share} leaves out ${leftOut.join(", ")}`)
}

const longest =
  /test\/(crash|interop|browser|faults|connectors)\/|\/(AdaptiveVotes|Guides|Import|Join|LedgerPostgres|Output|QueueModel|Recipes|Signals|Stopping|Webhooks|Worker|subpaths)\.test/

/** The longest files first, also where no earlier run has told which these are. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of the class, not of an array
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => Number(longest.test(b.moduleId)) - Number(longest.test(a.moduleId)))
  }
}

// Where `#built/…` of package.json leads, also in the processes that tests start: see test/support/built.ts.
process.env["NODE_OPTIONS"] = `${process.env["NODE_OPTIONS"] ?? ""} --conditions=prefstream-tests`

// Tests run as Node runs the sources: types stripped, nothing else transformed,
// `prefstream` resolved to src by the package's own `exports`.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/bench/**", ...leftOut],
    pool: "forks",
    // Some of the time is waiting for processes and disks. A share above 100% would count as 100%.
    maxWorkers: availableParallelism() + 3,
    sequence: { sequencer: LongestFirst },
    allowOnly: false,
    globalSetup: "test/support/built.ts",
    // A process that keeps what its files have loaded collects less often with more room for new objects: a fifth less time.
    execArgv: ["--conditions=prefstream-source", "--max-semi-space-size=64"],
    // Files share a process, one after the other: to load what they test takes longer than most of them.
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Only to catch what hangs: on a busy machine a process may take many seconds to start.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
