import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { cli, itemLines, quick, reportOf, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { bin, root, runSources } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

describe("a pipeline file", () => {
  test("says what no flag says: that the service has moved, that a campaign may begin, how long to wait", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryDirectory
      const fs = yield* FileSystem.FileSystem
      yield* fs.symlink(`${root}node_modules`, `${folder}/node_modules`)
      yield* write(`${folder}/items.jsonl`, itemLines(1))
      let files = 0
      /** `prefstream VERB` over a new file of the same pipeline, at a service of its own. */
      const work = Effect.fnUntraced(function* (
        verb: string,
        flags: ReadonlyArray<string>,
        settings = "",
        moved = true,
      ) {
        const file = `${folder}/pipeline-${++files}.mts`
        const { baseUrl } = yield* ScriptedService.make(() => ({
          status: 200,
          body: { task_id: `task_${files}`, status: "pending" },
        }))
        yield* fs.writeFileString(
          file,
          `import { Redacted } from "effect"
          import { Pipeline, Source, Tasks } from "${root}src/index.ts"
          export default Pipeline.make({
            directory: "${folder}/job",
            source: Source.files(["${folder}/items.jsonl"]),
            service: Tasks.ServiceProfile.layer({ baseUrl: "${baseUrl}", token: Redacted.make("t"), moved: ${moved} }),
            ${settings}
          })`,
        )
        const { status, stderr, stdout } = yield* cli([verb, file, ...quick, ...flags])
        return [status, `${stdout}${stderr}`] as const
      })
      const [first, said] = yield* work("submit", [])
      assert.strictEqual(first, 0, said)
      assert.strictEqual((yield* work("submit", []))[0], 0)
      assert.match((yield* work("submit", ["--no-moved"]))[1], /say --moved/)
      assert.strictEqual((yield* work("submit", ["--moved"], "", false))[0], 0)
      assert.strictEqual((yield* work("submit", [], 'guidelines: "new", newCampaign: true'))[0], 0)
      assert.match(
        (yield* work("submit", ["--no-new-campaign"], 'guidelines: "newer", newCampaign: true'))[1],
        /add --new-campaign/,
      )
      assert.strictEqual((yield* work("collect", [], "once: true"))[0], 3)
      assert.strictEqual((yield* work("collect", [], 'timeout: "1 milli"'))[0], 3)
      yield* fs.writeFileString(`${folder}/items.jsonl`, "{\n{\n")
      assert.strictEqual((yield* work("submit", ["--max-rejects", "1"], 'guidelines: "new"'))[0], 5)
    }))

  test("in a project whose files are no ES modules: the message says what to do", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryDirectory
      yield* write(`${folder}/package.json`, ['{ "type": "commonjs" }'])
      yield* write(`${folder}/pipeline.js`, ['import { Pipeline } from "prefstream"', "export default Pipeline"])
      const said = yield* Effect.promise(() => runSources([bin, "run", `${folder}/pipeline.js`], {}))
      assert.strictEqual(said.status, 2)
      assert.match(
        said.stderr,
        /^prefstream: cannot load .*: end its name with \.mts or \.mjs, or set "type": "module" in package\.json$/m,
      )
    }))

  test("with a wrong webhook scheme is refused in one line", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryDirectory
      const fs = yield* FileSystem.FileSystem
      yield* fs.symlink(`${root}node_modules`, `${folder}/node_modules`)
      yield* write(`${folder}/items.jsonl`, itemLines(1))
      yield* fs.writeFileString(
        `${folder}/pipeline.mts`,
        `import { Redacted } from "effect"
        import { Pipeline, Source, Tasks } from "${root}src/index.ts"
        export default Pipeline.make({
          directory: "${folder}/job",
          source: Source.files(["${folder}/items.jsonl"]),
          service: Tasks.ServiceProfile.layer({ baseUrl: "http://127.0.0.1:9/v1", token: Redacted.make("t") }),
          webhook: { scheme: "md5", secrets: [Redacted.make("s")] },
        })`,
      )
      const { status, stderr } = yield* cli(["run", `${folder}/pipeline.mts`])
      assert.strictEqual(status, 2, stderr)
      assert.match(stderr, /^prefstream: unknown webhook scheme "md5": expected standard-webhooks, .*$/m)
      assert.notMatch(stderr, /^\s+at /m)
    }))

  test("with settings that no pipeline has is refused, with their names and the nearest ones", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryDirectory
      const fs = yield* FileSystem.FileSystem
      yield* fs.symlink(`${root}node_modules`, `${folder}/node_modules`)
      yield* write(`${folder}/items.jsonl`, itemLines(1))
      const run = Effect.fnUntraced(function* (name: string, settings: string) {
        yield* fs.writeFileString(
          `${folder}/${name}.mts`,
          `import { AnnotationService, Pipeline, Source } from "${root}src/index.ts"
          export default Pipeline.make({
            directory: "${folder}/job",
            source: Source.files(["${folder}/items.jsonl"]),
            service: AnnotationService.layerEmbedded({ database: "${folder}/service.db", experts: ["last"] }),
            ${settings}
          })`,
        )
        return yield* cli(["run", `${folder}/${name}.mts`])
      })
      const { status, stderr } = yield* run(
        "several",
        'threshold: { "longer-chosen": 0.5 }, format: ["hh"], split: { test: 0.1 }, evalPrompts: ["a"], zzz: 1',
      )
      assert.strictEqual(status, 2, stderr)
      assert.match(
        stderr,
        /^prefstream: .*several\.mts has settings that no pipeline has: threshold \(did you mean thresholds\?\), format \(did you mean formats\?\), split \(did you mean splits\?\), evalPrompts \(did you mean evaluationPrompts\?\), zzz$/m,
      )
      assert.isFalse(yield* fs.exists(`${folder}/job`))
      const one = yield* run("one", "minVote: 2")
      assert.match(one.stderr, /has a setting that no pipeline has: minVote \(did you mean minVotes\?\)$/m)
    }))

  test("takes --dir, --max-rejects, --timeout and the service from the command line", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryDirectory
      const fs = yield* FileSystem.FileSystem
      yield* fs.symlink(`${root}node_modules`, `${folder}/node_modules`)
      yield* fs.writeFileString(
        `${folder}/mine.mts`,
        `import { AnnotationService, Pipeline, Source } from "${root}src/index.ts"
        export default Pipeline.make({
          directory: "${folder}/mine",
          source: Source.files(["data/sample.jsonl", "${folder}/bad.jsonl"]),
          service: AnnotationService.layerEmbedded({ database: "${folder}/service.db", experts: ["last"], turnaround: "1 hour" }),
        })`,
      )
      yield* fs.writeFileString(`${folder}/bad.jsonl`, "{\n")
      const of = (...args: ReadonlyArray<string>) =>
        cli(["run", `${folder}/mine.mts`, "--dir", `${folder}/other`, ...args])
      const waited = yield* of("--timeout", "1s", "--json")
      assert.strictEqual(waited.status, 3, waited.stderr)
      assert.strictEqual(reportOf(waited).rejected, 1)
      assert.strictEqual((yield* of("--max-rejects", "0")).status, 5)
      assert.isFalse(yield* fs.exists(`${folder}/mine`))
      const elsewhere = yield* of("--base-url", "http://127.0.0.1:9/v1")
      assert.strictEqual(elsewhere.status, 2)
      assert.match(elsewhere.stderr, /PREFSTREAM_TOKEN/)
    }))
})
