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

// Files that take the most processor time: they start, kill, and disturb processes, drive a browser, or compute for long.
// They take twice as long as all others together. So a run draws some of them: every fourth one in CI, else every twelfth;
// `ALL_CASES=1`, or a path, runs all.
const long = globSync([
  "test/{browser,crash,faults,interop}/*.test.ts",
  "test/cli/{Containers,Guides,Import,Inspect,LostLedger,Output,Progress,Recipes,Routing,Stopping,Worker}.test.ts",
  "test/dataset/{AtomicDirectory,DatasetThread,LateMembers,PromptSpacing,TrainerFiles,format/TrainerFormats}.test.ts",
  "test/house/subpaths.test.ts",
  "test/node/{FileLock,IncomingBytes,PostgresClient,PostgresPooler,Zstd}.test.ts",
  "test/pair/text/NearDuplicates.test.ts",
  "test/pipeline/{AdaptiveVotes,Reexport,RejectsFile,Resubmit}.test.ts",
  "test/service/{expert/BatchCrash,webhook/Webhooks}.test.ts",
  "test/source/combine/Join.test.ts",
  "test/source/format/{compression/Compression,json/PlainThread,parquet/CorruptFile,parquet/Parquet}.test.ts",
  "test/task/{SubmitDoubts,SubmitRecorded}.test.ts",
  "test/task/ledger/{LedgerPostgres,LedgerWorkers}.test.ts",
]).toSorted()
const share = process.env["ALL_CASES"] !== undefined ? 1 : process.env["CI"] === undefined ? 12 : 4
// Vitest may load this file more than once.
const draw = Number((process.env["DRAW"] ??= String(randomInt(share))))
const isNamed = process.argv.slice(2).some((argument) => argument.startsWith("test"))
const leftOut = isNamed ? [] : long.filter((_, i) => i % share !== draw)
if (leftOut.length > 0 && process.env["VITEST"] !== undefined) {
  // oxlint-disable-next-line no-console -- a run says what it leaves out
  console.log(`DRAW=${draw} of ${share} leaves out ${leftOut.join(", ")}`)
}

const longPaths = new Set([...long, "test/connectors/conformance.test.ts"].map((file) => resolve(file)))

/** The longest files first, also where no earlier run has told which these are. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of the class, not of an array
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => Number(longPaths.has(b.moduleId)) - Number(longPaths.has(a.moduleId)))
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
