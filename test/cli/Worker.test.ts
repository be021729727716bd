/** What `prefstream worker` refuses. */
import { writeFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe } from "@effect/vitest"
import { Effect } from "effect"
import { cli, itemLines, quick } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { notInstalled, Server } from "../support/postgres.ts"

describe.skipIf(notInstalled)("prefstream worker", () => {
  let server: Server
  beforeAll(async () => {
    server = await Server.make()
  })
  afterAll(() => server.close())

  test("refuses the ledger of a newer version, and leaves it as it is", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryDirectory
      const schema = server.newSchema()
      const file = `${folder}/items.jsonl`
      writeFileSync(file, `${itemLines(2).join("\n")}\n`)
      const env = { PREFSTREAM_LEDGER: server.url(schema) }
      const ran = yield* cli(["run", file, "--dir", folder, ...quick], env)
      assert.strictEqual(ran.status, 0, ran.stderr)
      server.psql("INSERT INTO prefstream_migration (migration_id, name) VALUES (2, 'of_the_future')", schema)
      const { status, stderr } = yield* cli(["worker", file, "--dir", folder], {
        ...env,
        PREFSTREAM_BASE_URL: "http://127.0.0.1:1/v1",
        PREFSTREAM_TOKEN: "token",
      })
      assert.strictEqual(status, 1)
      assert.match(
        stderr,
        /^prefstream: the ledger has version 2, this prefstream knows versions up to 1: install a newer/m,
      )
      assert.strictEqual(server.psql("SELECT COUNT(*) FROM part_owner", schema), "0")
    }))
})
