/** `prefstream worker`: what it refuses, and how it lets go of its parts. */
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname } from "node:path"
import { assert } from "@effect/vitest"
import { Duration, Effect, Fiber, Latch } from "effect"
import { version } from "../../src/node/Version.ts"
import { cli, cliStarted, itemLines, quick, to } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { describePostgres } from "../support/describePostgres.ts"
import { spawned } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

describePostgres("prefstream worker", (server) => {
  test("ends its reading at too many rejects, says so, and does not read again", function* () {
    const folder = yield* temporaryDirectory
    const schema = server.newSchema()
    const file = `${folder}/items.jsonl`
    writeFileSync(file, `${itemLines(2).join("\n")}\nno JSON\n`)
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    const worker = yield* cliStarted(["worker", file, "--dir", folder, "--max-rejects", "0", ...quick], {
      ...to(service),
      PREFSTREAM_LEDGER: server.url(schema),
    })
    const stderr = yield* worker.talks(/reading stopped: .*reject/)
    assert.notInclude(stderr, "restart in")
    yield* worker.stop()
    assert.strictEqual(server.psql("SELECT COUNT(*) FROM run", schema), "1")
  })

  const parts = 8

  /** The command line of a worker, and its environment. */
  const worker = Effect.fnUntraced(function* (
    service: ScriptedService.ScriptedService,
    schema: string,
    items = 1,
    ...flags: ReadonlyArray<string>
  ) {
    const folder = yield* temporaryDirectory
    const file = `${folder}/items.jsonl`
    writeFileSync(file, `${itemLines(items).join("\n")}\n`)
    const args = ["worker", file, "--dir", folder, "--parts", `${parts}`, ...flags]
    return [args, { ...to(service), PREFSTREAM_LEDGER: server.url(schema) }] as const
  })

  const nameIn = (said: string) => ({ name: /Worker (\S+) of/.exec(said)?.[1] ?? "" })

  const startWorker = Effect.fnUntraced(function* (...of: Parameters<typeof worker>) {
    const started = yield* cliStarted(...(yield* worker(...of)))
    return { ...started, ...nameIn(yield* started.talks(/Worker (\S+) of/)) }
  })

  /** Waits until a worker has so many parts, as the ledger says. */
  const has = (schema: string, { name }: { readonly name: string }, atLeast: number) =>
    Effect.sync(() => {
      try {
        return Number(server.psql(`SELECT COUNT(*) FROM part_owner WHERE part >= 0 AND owner = '${name}'`, schema))
      } catch {
        return 0 // no tables yet
      }
    }).pipe(Effect.delay(Duration.millis(250)), Effect.repeat({ until: (count) => count >= atLeast }))

  test("has all parts of its job, whoever works a job of that number in another schema", function* () {
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    const schemas = [server.newSchema(), server.newSchema()]
    const workers = yield* Effect.forEach(schemas, (schema) => startWorker(service, schema))
    for (const [i, schema] of schemas.entries()) yield* has(schema, workers[i]!, parts)
    yield* Effect.forEach(workers, ({ stop }) => stop(), { concurrency: 2 })
  })

  test("that is stopped lets go of its parts at once, and waits for the answer to what it is sending", function* () {
    const [asked, released] = [yield* Latch.make(), yield* Latch.make()]
    const context = yield* Effect.context()
    const service = yield* ScriptedService.make(async (request, before) => {
      if (request.method === "POST") {
        asked.openUnsafe()
        await Effect.runPromiseWith(context)(released.await)
      }
      return ScriptedService.obliging(request, before)
    })
    const schema = server.newSchema()
    const first = yield* startWorker(service, schema)
    yield* asked.await
    const second = yield* startWorker(service, schema)
    yield* has(schema, second, 1)
    const stopping = yield* Effect.forkChild(first.stop(), { startImmediately: true })
    yield* has(schema, second, parts)
    assert.isUndefined(stopping.pollUnsafe())
    assert.strictEqual(server.psql("SELECT state FROM task", schema), "submitting")
    yield* released.open
    yield* Fiber.join(stopping)
    assert.include(["submitted", "completed"], server.psql("SELECT state FROM task", schema))
    assert.strictEqual(service.received.filter(ScriptedService.isPost).length, 1)
    yield* second.stop()
  })

  test("works beside one of another version of prefstream, until a newer one has changed the ledger", function* () {
    const { program, scoped } = yield* Effect.promise(() => import("../support/program.ts"))
    // Within the package, of which it finds the files.
    const bundle = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(`${dirname(dirname(program))}/unfinished-`)),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true })),
    )
    cpSync(dirname(program), bundle, { recursive: true })
    const other = `${bundle}/${basename(program)}`
    for (const file of readdirSync(bundle).filter((name) => name.endsWith(".js"))) {
      const text = readFileSync(`${bundle}/${file}`, "utf8")
      writeFileSync(`${bundle}/${file}`, text.replace(`version: "${version}"`, 'version: "99.0.0"'))
    }
    const ran = (args: ReadonlyArray<string>, env = {}) =>
      scoped(() => spawned(process.execPath, [other, ...args], { env }))
    const printed = yield* ran(["--version"])
    assert.include((yield* Effect.promise(() => printed.ended)).stdout, "99.0.0")

    const [released, context] = [yield* Latch.make(), yield* Effect.context()]
    const service = yield* ScriptedService.make(async (request, before) => {
      if (request.method === "POST") await Effect.runPromiseWith(context)(released.await)
      return ScriptedService.obliging(request, before)
    })
    const schema = server.newSchema()
    // On a slow machine, a request may wait for its answer longer than a worker does, and is then repeated.
    const honored = ["--idempotency-key", "honored"]
    const flags = [4 * parts, "--batch-size", "1", "--concurrency", "4", ...honored, ...quick] as const
    const one = yield* startWorker(service, schema, ...flags)
    yield* has(schema, one, 1)

    const two = yield* ran(...(yield* worker(service, schema, ...flags)))
    const second = nameIn(yield* Effect.promise(() => two.talks(/Worker (\S+) of/)))
    const seen = (condition: string, count: number) =>
      Effect.sync(() =>
        Number(server.psql(`SELECT COUNT(*) FROM task JOIN part_owner USING (job, part) WHERE ${condition}`, schema)),
      ).pipe(Effect.delay(Duration.millis(250)), Effect.repeat({ until: (found) => found >= count }))
    for (const { name } of [one, second]) {
      yield* seen(`state = 'submitting' AND owner = '${name}' AND claim_epoch = epoch`, 1)
    }
    const status = yield* cli(["status"], { PREFSTREAM_LEDGER: server.url(schema) })
    assert.match(
      status.stdout,
      /^ *requests +a new request waits [\d.]+ m?s: until then, the workers' planned requests use the whole rate limit$/m,
    )
    yield* released.open
    yield* seen("state = 'completed'", 4 * parts)
    const posts = service.received.filter(ScriptedService.isPost)
    assert.strictEqual(new Set(posts.map(({ headers }) => headers["idempotency-key"])).size, 4 * parts)

    server.psql("INSERT INTO prefstream_migration (migration_id, name) VALUES (99, 'of_the_future')", schema)
    for (const { status, stderr } of [yield* one.ended, yield* Effect.promise(() => two.ended)]) {
      assert.strictEqual(status, 1)
      assert.match(
        stderr,
        /the ledger has version 99, but this prefstream supports versions up to \d+: install a newer/,
      )
    }
  })
})
