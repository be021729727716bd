import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { parquetWriteBuffer } from "hyparquet-writer"
import { cli, ends, itemLines, reportOf, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root, sample } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

describe("inspect", () => {
  test("shows format, layout, counts, tasks and the first items, and writes nothing", function* () {
    const args = ["inspect", sample, "--batch-size", "10", "--votes", "2", "--show", "1"]
    const { stderr, stdout } = yield* cli(args).pipe(ends(0))
    assert.match(stdout, /files +.*sample\.jsonl: JSONL\n/)
    assert.match(stdout, /layout +items: prompt at "prompt", completions at "completions"/)
    assert.match(stdout, /records +72 = 72 items \+ 0 duplicates \+ 0 rejected\n/)
    // 72 items in tasks of 10, for each of two votes.
    assert.match(stdout, /tasks +16 tasks in a first run, 2 votes per item/)
    assert.match(stdout, /72 of 72 items with a gold answer/)
    assert.match(stdout, /sample\.jsonl:1 {2}\(facts-001\)\n {2}prompt +Can the Great Wall/)
    assert.strictEqual(stdout.match(/^ {2}prompt /gm)?.length, 1)
    assert.strictEqual(stderr, "")
  })

  test("says of files of votes that import reads them, and of others nothing", function* () {
    const folder = yield* temporaryDirectory
    const pair = { prompt: "P", response_a: "one", response_b: "two" }
    const labelStudio = {
      data: { prompt: "P", text1: "one", text2: "two" },
      annotations: [{ completed_by: 1, result: [{ type: "pairwise", value: { selected: "left" } }] }],
    }
    const files: ReadonlyArray<readonly [name: string, record: object, said: RegExp | undefined]> = [
      ["expert", { ...pair, winner: "model_a", judge: "ann" }, /votes at "winner": a run would send/],
      ["columns", { ...pair, annotator_1: 1, annotator_2: 2 }, /votes at "annotator_1": a run would send/],
      ["number", { ...pair, label: 0 }, /votes at "label": a run would send/],
      ["one-hot", { ...pair, winner_model_a: 0, winner_model_b: 1 }, /votes at "winner_model_a": a run would send/],
      ["flags", { ...pair, label_toxic: 0, label_fine: 1 }, undefined],
      ["tool", labelStudio, /an export of Label Studio: a run would send/],
      ["gold", { ...pair, winner: "model_a" }, undefined],
      ["items", pair, undefined],
    ]
    for (const [name, record, said] of files) {
      yield* write(`${folder}/${name}.jsonl`, [record, record])
      const { stderr, stdout } = yield* cli(["inspect", `${folder}/${name}.jsonl`])
      if (said === undefined) assert.notInclude(stdout, "prefstream import", name)
      else assert.match(stdout + stderr, said, name)
    }
  })

  test("names the flag of a wrong completion path, if there are several", function* () {
    const folder = yield* temporaryDirectory
    const file = `${folder}/items.jsonl`
    yield* write(file, [{ prompt: "P", a: "one", b: "two" }])
    const inspect = (path: string) => cli(["inspect", file, "--completion-path", "a", "--completion-path", path])
    yield* inspect("nope").pipe(ends(2, /: --completion-path: the first records have no "nope"/))
    yield* inspect("b[").pipe(ends(2, /: --completion-path: not a field path: "b\["/))
  })

  test("names the value that keeps a column from being gold", function* () {
    const folder = yield* temporaryDirectory
    const records = ["model_a", "model_b", "neither one"].map((winner, i) => ({
      prompt: `P${i}`,
      response_a: "one",
      response_b: "two",
      winner,
    }))
    yield* write(`${folder}/votes.jsonl`, records)
    const { stdout } = yield* cli(["inspect", `${folder}/votes.jsonl`]).pipe(ends(0))
    assert.include(
      stdout,
      `votes at "winner" (these votes are not used as gold answers, because "neither one" is not the name of a completion: ${folder}/votes.jsonl:3): `,
    )
  })

  test("takes the same completions in another order for a duplicate, unless an id or --keep-reordered says otherwise", function* () {
    const folder = yield* temporaryDirectory
    const item = (completions: ReadonlyArray<string>, id?: string) => ({ id, prompt: "Which?", completions })
    const file = `${folder}/items.jsonl`
    const lines = [item(["b", "a"]), item(["a", "b"]), item(["a", "b"]), item(["b", "a"]), item(["a", "c"])]
    yield* write(file, [...lines, item(["b", "a"], "1"), item(["a", "b"], "2")])
    const { stdout } = yield* cli(["inspect", file])
    assert.match(stdout, /7 = 4 items \+ 3 duplicates \(2 with the completions in another order\) \+ 0 rejected/)
    assert.match(
      (yield* cli(["inspect", file, "--keep-reordered"])).stdout,
      /7 = 5 items \+ 2 duplicates \+ 0 rejected/,
    )
  })

  test("knows the limits of a service by its document or --max-completions, and none without them", function* () {
    const folder = yield* temporaryDirectory
    const file = `${folder}/items.jsonl`
    const item = (n: number) => ({
      prompt: `p${n}`,
      completions: Array.from({ length: n }, (_, i) => `completion ${i}`),
    })
    yield* write(file, [item(64), item(65)])
    assert.match((yield* cli(["inspect", file])).stdout, /1 too_many_completions, first .* at most 64 .*, found 65/)
    for (const document of [undefined, "none", { paths: { "/v1/tasks": { post: { requestBody: [] } } } }]) {
      const other = yield* ScriptedService.make(ScriptedService.obliging, {}, document)
      const elsewhere = yield* cli(["inspect", file, "--base-url", other.baseUrl])
      assert.match(elsewhere.stdout, /2 = 2 items/)
    }
    const limited = yield* cli(["inspect", file, "--base-url", "https://host/v1", "--max-completions", "4"])
    assert.match(
      limited.stdout,
      /2 too_many_completions, first .*:1: .*expected at most 4 \(the service's limit\), found/,
    )
  })

  test("says which models are known, and why none are; a run, if those of an earlier one were", function* () {
    const folder = yield* temporaryDirectory
    const batch = (first: number) =>
      Effect.forEach(["a", "b"], (model) =>
        write(
          `${folder}/${model}${first}.jsonl`,
          [first, first + 1].map((i) => ({ prompt: `p${i}`, response: `${model} ${i}` })),
        ),
      )
    const run = () => cli(["run", `${folder}/*.jsonl`, "--dir", `${folder}/job`, "--expert", "longest"])
    yield* batch(0)
    const named = yield* cli(["inspect", `${folder}/*.jsonl`])
    assert.match(named.stderr, /Models: named after the files/)
    assert.match(named.stdout, /models +named in 2 of 2 items/)
    const first = yield* run()
    assert.match(first.stderr, /Models: named after the files/)
    assert.notMatch(first.stderr, /have no model names/)
    yield* batch(2)
    const unnamed = yield* cli(["inspect", `${folder}/*.jsonl`])
    assert.match(unnamed.stderr, /Models: none\. .* Here, 0 of 4 prompts meet both\. To name the models, set/)
    assert.match(unnamed.stdout, /models +none/)
    const second = yield* run()
    assert.match(second.stderr, /Models: none\. .* Here, 0 of 4 prompts meet both\. To name the models, set/)
    assert.match(second.stderr, /the items in this run have no model names, but items in an earlier run have them/)
  })

  test("draws --completions-per-item of each item, as a run does, which buys nothing again under another draw", function* () {
    const folder = yield* temporaryDirectory
    const file = `${folder}/items.jsonl`
    const item = (id: number, n: number) => ({
      id,
      question: `p${id}`,
      answers: Array.from({ length: n }, (_, i) => ({ text: `text ${i}`, by: `model ${i}`, score: i })),
      gold: 1,
    })
    yield* write(file, [item(0, 3), item(1, 80), item(2, 80)])
    const paths = ["--prompt-path", "question", "--completions-path", "answers[].text", "--model-path", "answers[].by"]
    const input = [file, ...paths, "--keep", "*"]
    const said = yield* cli(["inspect", ...input, "--completions-per-item", "4"])
    assert.match(said.stdout, /3 = 3 items \+ 0 duplicates \+ 0 rejected/)
    assert.match(
      said.stdout,
      /3 completions \(1 item\), 4 completions \(2 items\)\n +2 of 3 items with a sample of their completions/,
    )
    assert.match((yield* cli(["inspect", file, "--completions-seed", "1"])).stderr, /requires --completions-per-item/)

    const run = (...flags: ReadonlyArray<string>) =>
      cli(["run", ...input, "--dir", `${folder}/job`, "--expert", "longest", "--json", ...flags])
    const first = reportOf(yield* run("--completions-per-item", "4"))
    const rows = () => readFileSync(`${folder}/job/dataset/jsonl/train-00000-of-00001.jsonl`, "utf8").trim().split("\n")
    assert.deepStrictEqual([first.status, first.submitted, rows().length], ["done", 3, 2 + 3 + 3])
    for (const line of rows()) {
      const row = JSON.parse(line)
      const { answers, drawn_completions } = JSON.parse(row.metadata)
      assert.strictEqual(row.chosen_model, row.chosen.replace("text", "model"))
      assert.strictEqual(row.chosen, `text ${answers[row.chosen_index].score}`)
      if (row.item_id === "0") assert.isUndefined(drawn_completions)
      else assert.strictEqual(row.chosen, `text ${drawn_completions[row.chosen_index]}`)
    }
    const again = reportOf(yield* run("--completions-per-item", "6", "--completions-seed", "7"))
    assert.deepStrictEqual([again.submitted, rows().length], [3, 8])
    yield* cli(["ledger", "check", "--dir", `${folder}/job`]).pipe(ends(0))
  })

  test("an input of which nothing can be used is not read for ever", function* () {
    const file = `${yield* temporaryDirectory}/items.jsonl.gz`
    writeFileSync(file, gzipSync("{}\n".repeat(150_000)))
    const { stdout } = yield* cli(["inspect", file]).pipe(ends(1))
    assert.match(stdout, /records +1\d\d,\d{3} = .*\n +all records so far were rejected, so reading stopped\n/)
    yield* cli(["validate", file, "--show", "0"]).pipe(
      ends(5, /the first 1\d\d,\d{3} records were all rejected\. Check the files/),
    )
    const whole = yield* cli(["validate", file, "--show", "0", "--max-rejects", "100%"])
    assert.match(whole.stderr, /150,000 records = /)
    assert.strictEqual(whole.status, 0)
  })

  test("of a join, shows each file and where key, prompt and completions are looked for, or that they are not there", function* () {
    const joined = `${root}data/joined`
    const files = [
      `${joined}/prompts.jsonl`,
      ...["aspen", "cedar"].flatMap((model) => ["--completions", `${joined}/completions/${model}.jsonl`]),
    ]
    const path = ["--completion-path", "choices[0].message.content"]
    const { stdout } = yield* cli(["inspect", ...files, ...path, "--missing", "reject"]).pipe(ends(0))
    assert.strictEqual(stdout.match(/jsonl: JSONL$/gm)?.length, 3)
    assert.include(
      stdout,
      'joined by "id": prompt at "prompt", completions at "choices[0].message.content", models named after the files',
    )
    yield* cli(["inspect", ...files, ...path, "--key", "question_id"]).pipe(
      ends(2, /prompts\.jsonl: --key: the first records have no "question_id"; they have "id", /),
    )
    const suppressed = yield* cli(["inspect", ...files])
    assert.match(
      suppressed.stderr,
      /aspen\.jsonl: found no completion .* --completion-path 'choices\[0\]\.message\.content'$/m,
    )
  })

  test("of several files, says that the others' formats are not known yet; of CSV, that a header may be missing", function* () {
    const folder = yield* temporaryDirectory
    for (const name of ["a", "b", "c"]) yield* write(`${folder}/${name}.jsonl`, itemLines(2, name.charCodeAt(0)))
    const said = yield* cli(["inspect", `${folder}/*.jsonl`])
    assert.match(
      said.stdout,
      /a\.jsonl: JSONL\n +and 2 more files; the format of each file is detected when the file is read\n/,
    )
    yield* write(`${folder}/data.csv`, ["What is 1 + 1?,Two.,Three.", "What is 2 + 2?,Four.,Five."])
    const csv = yield* cli(["inspect", `${folder}/data.csv`])
    assert.match(csv.stderr, /data\.csv: set --no-header if the first line has no column names; otherwise: found/)
    const without = yield* cli(["inspect", `${folder}/data.csv`, "--no-header"])
    assert.notMatch(without.stderr, /set --no-header/)
  })

  test("ends with 1 where no record can be used, and with 2 where the layout can't be told", function* () {
    const folder = yield* temporaryDirectory
    yield* write(`${folder}/bad.jsonl`, ['{"prompt":1,"completions":[]}'])
    assert.strictEqual((yield* cli(["inspect", `${folder}/bad.jsonl`])).status, 1)
    yield* write(`${folder}/junk.jsonl`, ["not JSON"])
    const junk = yield* cli(["run", `${folder}/junk.jsonl`, "--expert", "first", "--dir", `${folder}/job`])
    assert.match(junk.stderr, /^Found in .*junk\.jsonl: JSONL; no readable record at the start of the file$/m)
    yield* write(`${folder}/odd.jsonl`, ['{"x":"some text","y":"other text"}'])
    const odd = yield* cli(["inspect", `${folder}/odd.jsonl`]).pipe(ends(2, /odd\.jsonl: .*--/))
    assert.strictEqual(odd.stderr.trimEnd().split("\n").length, 1)
  })
})

describe("validate", () => {
  test("prints each record that can't be used in a line, and ends by --max-rejects", function* () {
    const folder = yield* temporaryDirectory
    const file = `${folder}/items.jsonl`
    yield* write(file, [
      ...itemLines(97),
      "{",
      '{"prompt":" ","completions":["a","b"]}',
      '{"prompt":"p","completions":["a"]}',
    ])
    const said = yield* cli(["validate", file]).pipe(ends(5))
    const lines = said.stdout.trimEnd().split("\n")
    assert.deepStrictEqual(
      lines.map((line) => line.slice(file.length).split(": ").slice(0, 2).join(": ")),
      [":98: column 2", ":99: prompt", ":100: completions"],
    )
    assert.match(said.stderr, /100 records = 97 items \+ 0 duplicates \+ 3 rejected/)
    for (const [limit, status] of [
      ["2", 5],
      ["3", 0],
      ["2%", 5],
      ["3%", 0],
    ] as const) {
      assert.strictEqual((yield* cli(["validate", file, "--max-rejects", limit])).status, status, limit)
    }
    assert.strictEqual((yield* cli(["validate", file, "--max-rejects", "1x"])).status, 2)
  })

  test("keeps what is refused in a file, which is never the input", function* () {
    const folder = yield* temporaryDirectory
    const file = `${folder}/items.jsonl`
    yield* write(file, [...itemLines(2), "{"])
    const before = readFileSync(file, "utf8")
    yield* cli(["validate", file, "--rejects", `${folder}/../${folder.split("/").at(-1)}/items.jsonl`]).pipe(ends(2))
    assert.strictEqual(readFileSync(file, "utf8"), before)
    writeFileSync(`${folder}/rejects.jsonl`, "earlier")
    appendFileSync(file, Uint8Array.of(10, 0xff, 10))
    assert.strictEqual((yield* cli(["validate", file, "--rejects", `${folder}/rejects.jsonl`])).status, 5)
    const [broken, latin1] = readFileSync(`${folder}/rejects.jsonl`, "utf8").trimEnd().split("\n")
    assert.deepStrictEqual(JSON.parse(broken!).raw, "{")
    assert.match(JSON.parse(latin1!).reason, /, set --encoding NAME\)/)
    assert.isFalse(existsSync(`${folder}/rejects.jsonl.partial`))
  })

  test("a JSON array that ends early ends inspect, validate, and import with 1", function* () {
    const folder = yield* temporaryDirectory
    const file = `${folder}/votes.json`
    const vote = (i: number) => ({ prompt: `P${i}`, response_a: "one", response_b: "two", winner: "a" })
    writeFileSync(file, JSON.stringify(Array.from({ length: 102 }, (_, i) => vote(i))).slice(0, -30))
    const truncated = /votes\.json: cannot be read: line 1: the JSON ends too early, so the file may be truncated/
    yield* cli(["inspect", file]).pipe(ends(1, truncated))
    yield* cli(["validate", file, "--max-rejects", "100%"]).pipe(ends(1, truncated))
    yield* cli(["import", file, "--dir", `${folder}/job`]).pipe(ends(1, truncated))
    const { stdout } = yield* cli(["status", "--dir", `${folder}/job`, "--json"])
    assert.deepInclude(JSON.parse(stdout), { status: "unfinished", imported: 100 })
  })

  test("--max-row-group-bytes bounds a row group of Parquet", function* () {
    const file = `${yield* temporaryDirectory}/rows.parquet`
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: "prompt", data: ["p", "q"] },
        { name: "response_a", data: ["a", "b"] },
        { name: "response_b", data: ["c", "d"] },
      ],
    })
    writeFileSync(file, new Uint8Array(bytes))
    yield* cli(["inspect", file, "--max-row-group-bytes", "100"]).pipe(
      ends(1, /its columns need more than 100 bytes of memory; raise --max-row-group-bytes /),
    )
    yield* cli(["inspect", file, "--max-row-group-bytes", "1MiB"]).pipe(ends(0))
  })

  test("of a file that can't be read to its end, tells that, and ends with 1", function* () {
    const folder = yield* temporaryDirectory
    const file = `${folder}/items.parquet`
    writeFileSync(file, "PAR1 and nothing behind it")
    yield* cli(["validate", file]).pipe(ends(1, /items\.parquet: cannot be read: /))
  })
})
