import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { cli, ends, folderWithItems, quick, reportOf, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { bin, root, runSources } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

/** A folder with an item, in which pipeline files find their modules. */
const project = Effect.tap(folderWithItems(1), (folder) =>
  FileSystem.FileSystem.use((fs) => fs.symlink(`${root}node_modules`, `${folder}/node_modules`)),
)

/** A pipeline file of the folder, over its items and with these settings. */
const pipelineIn = Effect.fnUntraced(function* (folder: string, name: string, settings: string) {
  const fs = yield* FileSystem.FileSystem
  const file = `${folder}/${name}.mts`
  yield* fs.writeFileString(
    file,
    `import { Redacted } from "effect"
    import { AnnotationService, Pipeline, Source, Tasks } from "${root}src/index.ts"
    export default Pipeline.make({
      directory: "${folder}/job",
      source: Source.files(["${folder}/items.jsonl"]),
      ${settings}
    })`,
  )
  return file
})

const profile = (baseUrl: string, more = "") =>
  `service: Tasks.ServiceProfile.layer({ baseUrl: "${baseUrl}", token: Redacted.make("t")${more} }),`

const embedded = (folder: string, more = "") =>
  `service: AnnotationService.layerEmbedded({ database: "${folder}/service.db", experts: ["last"]${more} }),`

describe("a pipeline file", () => {
  test("says what no flag says: that the service has moved, that a campaign may begin, how long to wait", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* project
    let files = 0
    /** `prefstream VERB` over a new file of the same pipeline, at a service of its own. */
    const work = Effect.fnUntraced(function* (verb: string, flags: ReadonlyArray<string>, settings = "", moved = true) {
      const taskId = `task_${++files}`
      const answer = { status: 200, body: { task_id: taskId, status: "pending" } }
      const { baseUrl } = yield* ScriptedService.make(() => answer)
      const file = yield* pipelineIn(folder, taskId, `${profile(baseUrl, `, moved: ${moved}`)} ${settings}`)
      return yield* cli([verb, file, ...quick, ...flags])
    })
    yield* work("submit", []).pipe(ends(0))
    yield* work("submit", []).pipe(ends(0))
    assert.match((yield* work("submit", ["--no-moved"])).stderr, /add --moved/)
    yield* work("submit", ["--moved"], "", false).pipe(ends(0))
    yield* work("submit", [], 'guidelines: "new", newCampaign: true').pipe(ends(0))
    const refused = yield* work("submit", ["--no-new-campaign"], 'guidelines: "newer", newCampaign: true')
    assert.match(refused.stderr, /add --new-campaign/)
    yield* work("collect", [], "once: true").pipe(ends(3))
    yield* work("collect", [], 'timeout: "1 milli"').pipe(ends(3))
    yield* fs.writeFileString(`${folder}/items.jsonl`, "{\n{\n")
    yield* work("submit", ["--max-rejects", "1"], 'guidelines: "new"').pipe(ends(5))
  })

  test("in a project whose files are no ES modules: the message says what to do", function* () {
    const folder = yield* temporaryDirectory
    yield* write(`${folder}/package.json`, ['{ "type": "commonjs" }'])
    yield* write(`${folder}/pipeline.js`, ['import { Pipeline } from "prefstream"', "export default Pipeline"])
    yield* Effect.promise(() => runSources([bin, "run", `${folder}/pipeline.js`], {})).pipe(
      ends(
        2,
        /^prefstream: cannot load .*: give the file the extension \.mts or \.mjs, or set "type": "module" in package\.json$/m,
      ),
    )
  })

  test("with settings that no pipeline has is refused, with their names and the nearest ones", function* () {
    const folder = yield* project
    const run = (name: string, settings: string) =>
      Effect.flatMap(pipelineIn(folder, name, `${embedded(folder)} ${settings}`), (file) => cli(["run", file]))
    yield* run(
      "several",
      'threshold: { "longer-chosen": 0.5 }, format: ["hh"], split: { test: 0.1 }, evalPrompts: ["a"], zzz: 1',
    ).pipe(
      ends(
        2,
        /^prefstream: .*several\.mts: threshold \(did you mean thresholds\?\), format \(did you mean formats\?\), split \(did you mean splits\?\), evalPrompts, zzz: expected the name of a pipeline setting, found an unknown name$/m,
      ),
    )
    assert.isFalse(yield* (yield* FileSystem.FileSystem).exists(`${folder}/job`))
    const one = yield* run("one", "minVote: 2")
    assert.match(one.stderr, /: minVote \(did you mean minVotes\?\): expected the name of a pipeline setting/m)
  })

  test("takes --dir, --max-rejects, --timeout and the service from the command line", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* project
    yield* fs.writeFileString(`${folder}/bad.jsonl`, '{"prompt": 1}\n')
    const source = `source: Source.files(["data/sample.jsonl", "${folder}/bad.jsonl"])`
    const file = yield* pipelineIn(folder, "mine", `${embedded(folder, ', turnaround: "1 hour"')} ${source}`)
    const of = (...args: ReadonlyArray<string>) => cli(["run", file, "--dir", `${folder}/other`, ...args])
    const waited = yield* of("--timeout", "1s", "--json").pipe(ends(3))
    assert.strictEqual(reportOf(waited).rejected, 1)
    yield* of("--max-rejects", "0").pipe(ends(5))
    assert.isFalse(yield* fs.exists(`${folder}/job`))
    yield* of("--base-url", "http://127.0.0.1:9/v1").pipe(ends(2, /PREFSTREAM_TOKEN/))
  })
})
