/**
 * Every command line of the guides, carried out as it stands there: against the embedded service, PostgreSQL, and the other
 * real servers of the tests, on loopback. A line that is not in the table of `guideLines.ts` must end with 0.
 *
 * Lines of a paragraph are carried out in order in one folder. The lines of help are checked by `Readme.test.ts`, those of
 * crontabs, units and manifests by `ScheduledJobs.test.ts`, those of recipes by `Recipes.test.ts`.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { Script } from "node:vm"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Schedule } from "effect"
import { parquetWriteBuffer } from "hyparquet-writer"
import { parse } from "yaml"
import { freePort } from "../../src/node/Cluster.ts"
import { defaultPath } from "../../src/task/webhook/WebhookReceiver.ts"
import * as HubServer from "../dataset/HubServer.ts"
import { cli, cliServed, cliStarted, ends, entered, itemLines, quick, type Said, to } from "../support/cli.ts"
import * as Collector from "../support/collector.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as JudgeStub from "../support/judgeStub.ts"
import { notInstalled, Server } from "../support/postgres.ts"
import { root } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { secret } from "../support/webhooks.ts"
import * as MovingIn from "./movingIn.ts"
import { type Before, guides, type Line, lines, type Servers, substitutions } from "./guideLines.ts"

/** Lines up to their comments, in paragraphs; and, each alone, the command lines within the text. */
const paragraphsOf = (guide: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [text = ""] = readFileSync(`${root}${guide}`, "utf8").split("<!-- What follows is written by")
  const blocks = [...text.matchAll(/^ *```(?:sh|console|bash|shell)\n([^]*?)^ *```/gm)].map(([, block = ""]) => block)
  const inText = [...text.replaceAll(/^ *```[^]*?^ *```/gm, "").matchAll(/`([^`\n]+)`/g)]
    .map(([, span = ""]) => span)
    .filter((span) => /^([A-Z_]+=\S+ )*(npx )?prefstream [a-z]+ \S/.test(span))
  const paragraphs = blocks.flatMap((block) => block.replaceAll(/ *\\\n */g, " ").split("\n\n"))
  return [...paragraphs.map((paragraph) => paragraph.split("\n")), ...inText.map((span) => [span])]
    .map((some) => some.map((line) => line.replace(/(^|\s+)# .*$/, "").trim()).filter((line) => line !== ""))
    .filter((some) => some.length > 0)
}

/** The words that a shell makes of assignments. */
const assignmentsIn = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/([A-Z_]+)=(\S*)/g)].map(([, name, value]) => [name, value]))

const argsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\s*((?:'[^']*'|"[^"]*"|[^\s'"])+)/g)].map(([, word = ""]) => word.replaceAll(/['"]/g, ""))

const questions = [1, 2, 3].map((id) => ({ question_id: id, turns: [{ content: `Question ${id}?` }] }))
const jsonl = (rows: ReadonlyArray<unknown>) => rows.map((row) => `${JSON.stringify(row)}\n`).join("")
const answers = (model: string) =>
  questions.map(({ question_id }) => ({
    question_id,
    prompt: `Question ${question_id}?`,
    choices: [{ text: `${model} says ${question_id}`, turns: [{ content: `${model} says ${question_id}` }] }],
    model,
  }))

const columns = {
  instruction: ["Add.", "Say hello."],
  input: ["1 and 2", ""],
  output_1: ["3", "Hello!"],
  output_2: ["It is 4.", "Bye."],
}
const parquet = new Uint8Array(
  parquetWriteBuffer({
    columnData: Object.entries(columns).map(([name, data]) => ({ name, data, type: "STRING" as const })),
  }),
)

/** The files that the guides name. */
const fill = (folder: string) => {
  const write = (file: string, content: string | Uint8Array) => writeFileSync(`${folder}/${file}`, content)
  for (const name of ["items", "answers", "node_modules"]) mkdirSync(`${folder}/${name}`)
  for (const name of ["data", "pipelines"]) symlinkSync(`${root}${name}`, `${folder}/${name}`)
  symlinkSync(root, `${folder}/node_modules/prefstream`)
  write(
    "items.jsonl",
    jsonl(itemLines(4).map((line) => ({ ...(JSON.parse(line) as object), models: ["gpt-a", "gpt-b"] }))),
  )
  write("items/today.jsonl", `${itemLines(4).join("\n")}\n`)
  write("guidelines.md", "Prefer the completion that is right.\n")
  write("rubric.yaml", "strength: true\n")
  write("question.jsonl", jsonl(questions))
  write("answers/gpt-3.5.jsonl", jsonl(answers("gpt-3.5")))
  write("answers/gpt-4.jsonl", jsonl(answers("gpt-4 of now")))
  write("samples.jsonl", jsonl([...answers("gpt-3.5"), ...answers("gpt-4 of now")]))
  write("arena-hard.jsonl", jsonl(questions))
  write("answers.csv.gz", gzipSync("prompt,response_a,response_b\nWhy?,Because.,So.\n"))
  write("pairs.csv", "input,output_1,output_2,label\nWhy?,Because.,So.,output_1\nHow?,This way.,That.,output_2\n")
  write("qa.jsonl", jsonl([{ context: "Rain.", question: "Wet?", response_a: "Yes.", response_b: "No." }]))
  const pair = (n: number) => ({ prompt: `Question ${n}?`, response1: `Yes, ${n}.`, response2: `No, ${n}.` })
  write("votes.jsonl", jsonl([1, 2].map((n) => ({ ...pair(n), expert: "ada", choice: `Yes, ${n}.` }))))
  write(
    "testset.json",
    JSON.stringify([3, 4].map((n) => ({ ...pair(n), annotator1: 1, annotator2: 2, annotator3: 1 }))),
  )
  write("labels.jsonl", jsonl([5, 6, 7].map((n) => ({ ...pair(n), label: n - 5 }))))
  write("label-studio.json", JSON.stringify(MovingIn.labelStudio))
  write("argilla.json", JSON.stringify(MovingIn.argilla))
  write("sheet.csv", MovingIn.sheet)
  write("alpaca.parquet", parquet)
}

/** 43 tasks, of which 21 and 41 are in doubt, and another has failed. */
const leaveAttention = Effect.gen(function* () {
  writeFileSync("many.jsonl", `${itemLines(43).join("\n")}\n`)
  const service = yield* ScriptedService.except(({ body, path }) => {
    if (/prompt (20|40)"/.test(body)) return "reset"
    return path.endsWith("/task_5") && { status: 200, body: { task_id: "task_5", status: "failed" } }
  })
  const args = ["run", "many.jsonl", "--dir", "week-48", "--batch-size", "1", "--concurrency", "1", ...quick]
  assert.strictEqual((yield* cli(args, to(service))).status, 4)
})

const commandsBefore = {
  "a dataset": "run items.jsonl --expert longest --dir quickstart",
  results: "run items.jsonl --expert shortest --dir week-48",
  "a pilot": `import testset.json ${[1, 2, 3].map((n) => `--choice-path annotator${n}`).join(" ")} --dir pilot`,
}

describe("the guides' command lines", () => {
  let server: Server | undefined
  beforeAll(async () => {
    if (!notInstalled) server = await Server.make()
  })
  afterAll(() => server?.close())

  it("are of prefstream or in the table, which has no other lines", () => {
    const found = new Set(guides.flatMap((guide) => paragraphsOf(guide).flat()))
    const others = [...found].filter((line) => !/^export |prefstream [a-z]/.test(line))
    assert.includeMembers(Object.keys(lines), others)
    assert.includeMembers([...found], Object.keys(lines))
  })

  it("and those in the heads of recipes are run by tests of recipes", () => {
    const tests = ["Recipes", "PanelRecipe"]
      .map((name) => readFileSync(`${root}test/cli/${name}.test.ts`, "utf8"))
      .join()
    const recipes = readdirSync(`${root}pipelines`).filter((file) => file.endsWith(".ts"))
    assert.isNotEmpty(recipes)
    for (const recipe of recipes) assert.include(tests, `pipelines/${recipe}`)
  })

  it("name scripts of npm that there are; npm start runs the quickstart", () => {
    const { scripts }: { scripts: { readonly [name: string]: string } } = JSON.parse(
      readFileSync(`${root}package.json`, "utf8"),
    )
    const own = guides.flatMap((guide) => [
      ...readFileSync(`${root}${guide}`, "utf8").matchAll(/npm (?:run (?:--silent )?([\w:]+)|(test|start)\b)/g),
    ])
    assert.isAbove(own.length, 20)
    assert.match(scripts["start"] ?? "", / src\/bin\.ts run pipelines\/quickstart\.ts$/)
    for (const [line, script, short] of own) assert.property(scripts, script ?? short ?? "", line)
  })

  /** Makes what a line needs, in the current folder; the environment that leads there. */
  const prepare = Effect.fnUntraced(function* (before: Before | undefined, servers: Servers) {
    const base = { PREFSTREAM_BASE_URL: servers.baseUrl, PREFSTREAM_TOKEN: servers.token }
    const done = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Record<string, string> = {}) {
      yield* cli(args, env).pipe(ends(0))
    })
    switch (before) {
      case "a dataset":
      case "results":
      case "a pilot":
        yield* done(argsOf(commandsBefore[before]))
        return {}
      case "tasks that need attention":
        yield* leaveAttention
        return {}
      case "tasks at a service": {
        const service = yield* ScriptedService.except(
          (request) => !ScriptedService.isPost(request) && ScriptedService.pending(request),
        )
        for (const dir of ["week-48", "prefstream-job"]) {
          yield* done(["submit", "items.jsonl", "--dir", dir], to(service))
        }
        return to(service)
      }
      case "a service":
        return { ...base, PREFSTREAM_WEBHOOK_SECRET: secret }
      case "a database":
        return { ...base, PREFSTREAM_LEDGER: servers.database }
      case undefined:
        return {}
    }
  })

  const enter = Effect.gen(function* () {
    const folder = yield* temporaryDirectory
    fill(folder)
    yield* entered(folder)
  })

  /** Carries out a line once its substitutions are made. */
  const carryOut = Effect.fnUntraced(function* (text: string, line: Line, env: Record<string, string>) {
    const [, assignments = "", command = ""] = /^((?:[A-Z_]+=\S+ )*).*?prefstream (.*)$/.exec(text) ?? []
    const args = argsOf(command.replace(/ > .*$|\)$/, ""))
    const all = { ...env, ...assignmentsIn(assignments) }
    if (typeof line.ends !== "number") {
      const running = yield* cliStarted(args, all)
      yield* Effect.raceFirst(running.says(line.ends), running.talks(line.ends))
      yield* running.stop()
      return
    }
    const said: Said = yield* line.repeated === true
      ? cli(args, all).pipe(
          Effect.repeat({ until: ({ status }) => status === line.ends, schedule: Schedule.spaced("50 millis") }),
          Effect.timeout("20 seconds"),
        )
      : cli(args, all)
    assert.strictEqual(said.status, line.ends, `${text}\n${said.stdout}${said.stderr}`)
    const target = / > ([\w./-]+)$/.exec(command)?.[1]
    if (target !== undefined) writeFileSync(target, said.stdout)
    if (args[0] !== "completion") return
    const [, shell = ""] = args
    const checked = spawnSync(shell, ["-n"], { input: said.stdout, encoding: "utf8" })
    // Shells that are not installed are left out.
    if (checked.error === undefined) assert.strictEqual(checked.status, 0, checked.stderr)
  })

  for (const guide of guides.filter((each) => paragraphsOf(each).length > 0)) {
    test(`${guide}: each is carried out`, function* () {
      const home = yield* temporaryDirectory
      const { env: service } = yield* cliServed(["--database", `${home}/service.db`, "--expert", "longest"])
      const judge = yield* JudgeStub.make(JudgeStub.byValue((completion) => completion.length))
      const hub = yield* HubServer.make()
      hub.create("user/prompts", { "data/train.parquet": parquet, "default/train/0000.parquet": parquet })
      for (const branch of ["v2", "refs/convert/parquet"]) hub.branch("user/prompts", branch)
      const collector = yield* Collector.make
      const machine = { HF_ENDPOINT: hub.url, HF_HOME: home, HF_TOKEN: "hf_writer" }
      for (const paragraph of paragraphsOf(guide)) {
        const servers = {
          baseUrl: service.PREFSTREAM_BASE_URL,
          token: service.PREFSTREAM_TOKEN,
          judge: judge.baseUrl,
          collector: collector.endpoint,
          port: yield* freePort,
          database: server?.url(server.newSchema()) ?? "",
        }
        const here = (text: string) =>
          substitutions(servers).reduce((line, [from, into]) => line.replace(from, () => into), text)
        let env: Record<string, string> = machine
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* enter
            for (const text of paragraph) {
              if (text.startsWith("export ")) {
                assert.notInclude(here(text), "…")
                env = { ...env, ...assignmentsIn(here(text)) }
                continue
              }
              const line: Line | string = lines[text] ?? { ends: 0 }
              if (typeof line === "string") continue
              if (line.before === "a database" && notInstalled) continue
              yield* Effect.scoped(
                Effect.gen(function* () {
                  if (line.alone === true) yield* enter
                  const prepared = yield* prepare(line.before, servers)
                  yield* carryOut(here(text), line, { ...prepared, ...env })
                }),
              )
            }
          }),
        )
      }
    })
  }
})

describe("the guides' other blocks", () => {
  const blocks = guides.flatMap((guide) => {
    const [text = ""] = readFileSync(`${root}${guide}`, "utf8").split("<!-- What follows is written by")
    return [...text.matchAll(/^ *```(\w*)\n([^]*?)^ *```/gm)].map(([, language = "", block = ""]) => ({
      guide,
      language,
      block,
    }))
  })
  const of = (...languages: ReadonlyArray<string>) => blocks.filter(({ language }) => languages.includes(language))

  it("are in languages that a test knows", () => {
    const elsewhere = { ts: "house/examples", crontab: "ScheduledJobs", ini: "ScheduledJobs", dockerfile: "Containers" }
    const here = ["sh", "json", "jsonl", "js", "yaml", "nginx", "caddy", ""]
    assert.sameMembers([...new Set(blocks.map(({ language }) => language))], [...here, ...Object.keys(elsewhere)])
  })

  it("parse as JSON, YAML, and JavaScript", () => {
    for (const { block, guide } of of("json")) assert.doesNotThrow(() => JSON.parse(block), guide)
    for (const { block } of of("jsonl")) for (const line of block.trim().split("\n")) JSON.parse(line)
    for (const { block, guide } of of("yaml")) assert.isObject(parse(block), guide)
    for (const { block, guide } of of("js")) {
      assert.doesNotThrow(() => new Script(`async () => {${block}}`), guide)
    }
  })

  test("the settings are those of a project", function* () {
    const folder = yield* temporaryDirectory
    const [settings] = of("yaml").filter(({ guide }) => guide === "src/cli/README.md")
    yield* (yield* FileSystem.FileSystem).writeFileString(`${folder}/prefstream.yaml`, settings!.block)
    for (const command of ["run", "export", "serve"]) {
      const said = yield* cli(["config", command], { PREFSTREAM_CONFIG: `${folder}/prefstream.yaml` }).pipe(ends(0))
      assert.match(said.stdout, command === "serve" ? /^database +\S+service\.db/m : /^format +\S*trl/m)
    }
  })

  it("the proxies lead to the port of the service, and the receiver's path is the receiver's", () => {
    const reference = readFileSync(`${root}src/cli/README.md`, "utf8")
    const [, port = ""] = /^ {2}--port PORT .*\(default: (\d+)\)$/m.exec(reference) ?? []
    assert.lengthOf(of("nginx", "caddy"), 2)
    for (const { block } of of("nginx", "caddy")) {
      assert.match(block, new RegExp(`127\\.0\\.0\\.1:${port}\\b`))
      assert.strictEqual(block.split("{").length, block.split("}").length)
    }
    assert.include(readFileSync(`${root}src/service/README.md`, "utf8"), `\`location ${defaultPath}\``)
  })
})
