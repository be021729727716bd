import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { cli, cliServed, ends, folderWithItems, quick, type Said, to } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { run } from "../support/program.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { traces } from "../support/traces.ts"

const token = "pst_5e8c2f-A-TOKEN-THAT-NOBODY-MAY-SEE"

const assertNowhere = (folder: string, said: Pick<Said, "stdout" | "stderr">) => {
  assert.notInclude(said.stdout, token, "stdout")
  assert.notInclude(said.stderr, token, "stderr")
  for (const [place, text] of traces(folder)) assert.isFalse(text.includes(token), place)
}

/** Takes the header apart like a service that repeats what it was sent. */
const echo = ({ headers }: ScriptedService.Received) => `unknown token ${headers.authorization?.replace("Bearer ", "")}`

const args = (job: string) => ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--json", ...quick]

describe("the token appears nowhere", () => {
  test("in what a run prints and keeps, here or at the service, at any log level", function* () {
    const folder = yield* folderWithItems(3)
    const { env, service } = yield* cliServed(["--database", `${folder}/service.db`, "--expert", "first"], token)
    const command = ["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, "--json", "--log-level", "all"]
    const said = yield* Effect.promise(() => run([...command, ...quick], env)).pipe(ends(0))
    const { stderr, stdout } = yield* service.stop()
    assertNowhere(folder, { stdout: said.stdout + stdout, stderr: said.stderr + stderr })
    const seen = traces(folder).filter(([, text]) => text.includes('"task_type"'))
    assert.isNotEmpty(seen, "what is packed in the databases is looked into")
  })

  test("where a secret is given by a flag, which is refused", function* () {
    const job = yield* temporaryDirectory
    for (const given of [
      ["--token", token],
      [`--token=${token}`],
      ["--webhook-secret", token],
      ["--judge-api-key", token],
    ]) {
      for (const before of [[], ["schedule", "--cron", "@daily", "--"]]) {
        const said = yield* cli([...before, "collect", "--dir", job, ...given]).pipe(
          ends(
            2,
            /^prefstream: --(token|webhook-secret|judge-api-key): all users of this machine can read a secret on the command line; set PREFSTREAM_\w+ instead\n$/,
          ),
        )
        assertNowhere(job, said)
      }
    }
  })

  test("where it is blank, which is refused", function* () {
    const job = yield* temporaryDirectory
    for (const command of [
      ["collect", "--dir", job, "--base-url", "http://host/v1"],
      ["serve", "--database", `${job}/service.db`],
    ]) {
      yield* cli(command, { PREFSTREAM_TOKEN: " " }).pipe(ends(2, /token is empty/))
    }
  })

  for (const status of [401, 403, 404]) {
    test(`where the service answers ${status} and repeats it`, function* () {
      const job = yield* folderWithItems(2)
      const service = yield* ScriptedService.make((request) => ({ status, body: { detail: echo(request) } }))
      const said = yield* cli(args(job), { ...to(service), PREFSTREAM_TOKEN: token }).pipe(ends(1))
      assert.include(said.stderr, "unknown token")
      assertNowhere(job, said)
    })
  }

  test("where the service refuses items and repeats it in the reason, to the last character that is shown", function* () {
    const job = yield* folderWithItems(2)
    // Longer than the part of an answer that is shown, which ends within the token.
    const service = yield* ScriptedService.make((request) => ({
      status: 422,
      body: `${"x".repeat(270)} ${echo(request)}`,
    }))
    const said = yield* cli(args(job), { ...to(service), PREFSTREAM_TOKEN: token })
    assertNowhere(job, said)
    for (const [place, text] of traces(job)) assert.isFalse(text.includes(token.slice(0, 12)), place)
    assert.notInclude(said.stdout, token.slice(0, 12))
  })

  test("where the service repeats it in a success that can't be used", function* () {
    const job = yield* folderWithItems(2)
    const service = yield* ScriptedService.make((request, before) =>
      request.method === "POST" && request.body.includes("prompt 0")
        ? { status: 200, body: { note: echo(request) } }
        : request.method === "GET"
          ? { status: 200, body: echo(request) }
          : ScriptedService.obliging(request, before),
    )
    const said = yield* cli(args(job), { ...to(service), PREFSTREAM_TOKEN: token }).pipe(ends(4))
    assertNowhere(job, said)
  })
})
