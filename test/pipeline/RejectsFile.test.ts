import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Schema } from "effect"
import { Reject } from "../../src/domain/Reject.ts"
import { cli, ends, itemLines, quick, reportOf, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const decodeReject = Schema.decodeUnknownSync(Schema.fromJsonString(Reject), { onExcessProperty: "error" })

const rejectsOf = Effect.fnUntraced(function* (job: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(`${job}/rejects.jsonl`)
  assert.strictEqual(text.at(-1), "\n")
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => decodeReject(line))
})

const exists = (file: string) => FileSystem.FileSystem.use((fs) => fs.exists(file))

const embedded = ["--expert", "first", "--json"]

/** Lines that are no items: what is said of each. */
const bad: ReadonlyArray<readonly [line: string, code: Reject["code"], reason: RegExp]> = [
  ["not JSON", "invalid_json", /^column 1: expected a value, found/],
  ['{"prompt": "cut off', "invalid_json", /^column \d+: expected /],
  ['["p","a","b"]', "invalid_shape", /expected an object, found an array/],
  ['{"prompt":"\\ud800","completions":["a","b"]}', "invalid_shape", /^prompt: .*lone surrogate$/],
]

describe("a file of which every record is rejected", () => {
  const csv = ["text,answer_1,answer_2", "a,b,c", "d,e,f"]

  test("is named at the end, unless no other file has a record", function* () {
    const job = yield* temporaryDirectory
    yield* write(`${job}/a.jsonl`, itemLines(3))
    yield* write(`${job}/b.csv`, csv)
    yield* write(`${job}/c.jsonl`, [itemLines(1, 3)[0]!, "not JSON"])
    yield* write(`${job}/d.jsonl`, ["not JSON", '{"prompt": "cut off'])
    const files = [`${job}/a.jsonl`, `${job}/b.csv`, `${job}/c.jsonl`]
    const said = yield* cli(["run", ...files, "--dir", `${job}/job`, ...embedded]).pipe(ends(0))
    assert.strictEqual(reportOf(said).rejected, 3)
    const warnings = said.stderr.split("\n").filter((line) => /records? (was|were) rejected/.test(line))
    assert.lengthOf(warnings, 1)
    assert.match(warnings[0]!, /b\.csv: all 2 records were rejected; first: .*b\.csv:2: prompt: expected/)
    const alone = yield* cli(["run", `${job}/d.jsonl`, "--dir", `${job}/other`, ...embedded]).pipe(ends(1))
    assert.notMatch(alone.stderr, /records were rejected; first/)
  })
})

describe("rejects.jsonl", () => {
  test("has one line for each refused record, with its file, line, code, reason and text", function* () {
    const job = yield* temporaryDirectory
    const file = `${job}/items.jsonl`
    // Blank lines are no records, and count as lines.
    yield* write(file, ["", ...bad.flatMap(([line], i) => [itemLines(1, i)[0]!, line])])
    const report = reportOf(yield* cli(["run", file, "--dir", job, ...embedded]))
    assert.strictEqual(report.rejected, bad.length)
    assert.strictEqual(report.submitted, bad.length)
    const rejects = yield* rejectsOf(job)
    assert.strictEqual(rejects.length, bad.length)
    bad.forEach(([raw, code, reason], i) => {
      const { reason: told, ...rest } = rejects[i]!
      assert.deepStrictEqual(rest, { file, line: 3 + 2 * i, code, raw })
      assert.match(told, reason)
    })
  })

  test("keeps bytes that are no UTF-8 as they are", function* () {
    const job = yield* temporaryDirectory
    const bytes = Buffer.from('{"prompt":"caf\u00e9","completions":["a","b"]}', "latin1")
    yield* write(`${job}/items.jsonl`, [itemLines(1)[0]!, bytes])
    yield* cli(["run", `${job}/items.jsonl`, "--dir", job, ...embedded])
    const rejects = (yield* rejectsOf(job)).map(({ code, line, raw_base64 }) => [code, line, raw_base64])
    assert.deepStrictEqual(rejects, [["invalid_utf8", 2, bytes.toString("base64")]])
  })

  test("names an id that stands for other content, in the same file or in an earlier run", function* () {
    const job = yield* temporaryDirectory
    const other = '{"id":"item-0","prompt":"other","completions":["x","y"]}'
    yield* write(`${job}/items.jsonl`, [itemLines(1)[0]!, other])
    yield* write(`${job}/later.jsonl`, [other])
    for (const [name, line] of [
      ["items", 2],
      ["later", 1],
    ] as const) {
      yield* cli(["run", `${job}/${name}.jsonl`, "--dir", job, ...embedded])
      const reject = (yield* rejectsOf(job))[0]!
      assert.strictEqual(reject.code, "conflicting_id")
      assert.strictEqual(reject.file, `${job}/${name}.jsonl`)
      assert.strictEqual(reject.line, line)
      assert.include(reject.reason, '"item-0"')
      assert.deepStrictEqual(JSON.parse(reject.raw ?? ""), JSON.parse(other))
    }
  })

  test("keeps those of earlier runs, until a run reads their file again", function* () {
    const job = yield* temporaryDirectory
    const [a, b, c] = [`${job}/a.jsonl`, `${job}/b.jsonl`, `${job}/c.jsonl`]
    yield* write(a, [...itemLines(2), "{", "a"])
    yield* write(b, [...itemLines(1, 2), "b"])
    yield* write(c, itemLines(1, 3))
    const places = Effect.map(rejectsOf(job), (all) => all.map(({ file, line }) => `${file}:${line}`))
    const expectRun = Effect.fnUntraced(function* (files: ReadonlyArray<string>, rejected: number, earlier: object) {
      const report = reportOf(yield* cli(["run", ...files, "--dir", job, ...embedded]))
      assert.deepStrictEqual({ rejected: report.rejected, earlier: report.earlier }, { rejected, earlier })
      assert.deepStrictEqual(reportOf(yield* cli(["status", "--dir", job, "--json"])).earlier, earlier)
    })
    yield* expectRun([a], 2, { read: 0, rejected: 0 })
    yield* expectRun([b], 1, { read: 4, rejected: 2 })
    assert.deepStrictEqual(yield* places, [`${b}:2`, `${a}:3`, `${a}:4`])
    yield* expectRun([c], 0, { read: 6, rejected: 3 })
    assert.deepStrictEqual(yield* places, [`${b}:2`, `${a}:3`, `${a}:4`])
    const status = yield* cli(["status", "--dir", job])
    assert.include(
      status.stdout,
      "counts are for the last run only; earlier runs read 6 records and rejected 3 records from other files",
    )
    assert.include(status.stdout, `${job}/rejects.jsonl`)
    // Stopped before its end, the run says what it has found in the file so far.
    yield* cli(["run", a, "--dir", job, "--max-rejects", "0", ...embedded]).pipe(ends(5))
    assert.deepStrictEqual(yield* places, [`${a}:3`, `${a}:4`, `${b}:2`])
    yield* write(a, [...itemLines(3), "a"])
    yield* expectRun([a, c], 1, { read: 2, rejected: 1 })
    assert.deepStrictEqual(yield* places, [`${a}:4`, `${b}:2`])
    yield* write(b, itemLines(1, 2))
    yield* expectRun([b], 0, { read: 5, rejected: 1 })
    assert.deepStrictEqual(yield* places, [`${a}:4`])
    yield* write(a, itemLines(3))
    yield* expectRun([a, b], 0, { read: 0, rejected: 0 })
    assert.isFalse(yield* exists(`${job}/rejects.jsonl`))
  })

  test("holds what the service refuses, with its reason, and where it was read", function* () {
    const job = yield* temporaryDirectory
    const file = `${job}/items.jsonl`
    yield* write(file, ["{", ...itemLines(4)])
    const service = yield* ScriptedService.except(
      ({ body }) => body.includes("prompt 2") && { status: 422, body: { detail: "prompt 2 is not for our experts" } },
    )
    const args = ["run", file, "--dir", job, "--batch-size", "2", "--json", ...quick]
    const said = yield* cli(args, to(service)).pipe(ends(0))
    const report = reportOf(said)
    assert.deepStrictEqual([report.read, report.submitted, report.rejected], [5, 3, 2])
    const [byUs, ...byService] = yield* rejectsOf(job)
    assert.strictEqual(byUs?.code, "invalid_json")
    assert.deepStrictEqual(
      byService.map(({ code, file, line }) => ({ code, file, line })),
      [{ code: "refused_by_service" as const, file, line: 4 }],
    )
    for (const [i, { raw, reason }] of byService.entries()) {
      assert.match(reason, /422.*prompt 2 is not for our experts/)
      assert.deepStrictEqual(JSON.parse(raw ?? ""), JSON.parse(itemLines(4)[2 + i]!))
    }
  })
})
