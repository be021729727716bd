import { createHmac } from "node:crypto"
import { networkInterfaces } from "node:os"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { cli, cliStarted, ends, folderWithItems, itemLines, reportOf, to, write } from "../support/cli.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { completed, deliver, otherSecret, secret, send } from "../support/webhooks.ts"

const seldom = ["--poll-min", "5h", "--poll-max", "10h", "--requests-per-second", "1000"]

/** A job of three items in tasks of one, and a service that completes them at once. */
const jobOf = Effect.gen(function* () {
  const job = yield* folderWithItems(3)
  const service = yield* ScriptedService.make(ScriptedService.obliging)
  return { job, service, args: [`${job}/items.jsonl`, "--dir", job, "--batch-size", "1"] }
})

const hasIPv6 = Object.values(networkInterfaces()).some((found) => found?.some(({ address }) => address === "::1"))

/** A command that receives webhooks, and where. */
const receiving = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Record<string, string>) {
  const running = yield* cliStarted(args, env)
  const [, url = ""] =
    /^Webhooks are received at (\S+)$/m.exec(yield* running.talks(/^Webhooks are received at \S+$/m)) ?? []
  return { ...running, url }
})

describe("--listen", () => {
  test("has run and collect wait for webhooks, at the address that they tell, and end with the last result", function* () {
    const { args, job, service } = yield* jobOf
    const env = { ...to(service), PREFSTREAM_WEBHOOK_SECRET: ` ${otherSecret}  ${secret}\n` }
    assert.strictEqual((yield* cli(["submit", ...args, ...seldom], env)).status, 0)
    for (const command of [
      ["collect", "--dir", job, "--json"],
      ["run", ...args, "--json"],
    ]) {
      const { ended, url } = yield* receiving([...command, ...seldom, "--listen", "127.0.0.1:0"], env)
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/webhook$/)
      if (command[0] === "run") {
        yield* Effect.repeat(Effect.yieldNow, {
          until: () => service.received.filter(ScriptedService.isPost).length === 4,
        })
        assert.strictEqual(yield* deliver(url, completed(["task_3"])), 204)
      } else {
        assert.strictEqual(yield* deliver(url, completed(["task_0", "task_1"]), { secret: otherSecret }), 204)
        assert.strictEqual(yield* deliver(url, completed(["task_2"])), 204)
      }
      const said = yield* ended.pipe(ends(0))
      assert.strictEqual(reportOf(said).tasks.completed.tasks, command[0] === "run" ? 4 : 3)
      assert.notInclude(said.stderr, secret)
      // For the second: one more item, in a task of its own.
      yield* write(`${job}/items.jsonl`, itemLines(4))
    }
  })

  test("is told where it stands at a path of one's own, and in an IPv6 address where there is IPv6", function* () {
    const { args, service } = yield* jobOf
    const env = { ...to(service), PREFSTREAM_WEBHOOK_SECRET: secret }
    const host = hasIPv6 ? "[::1]" : "127.0.0.1"
    const flags = ["--listen", `${host}:0`, "--webhook-path", "/hooks/annotation", ...seldom]
    const { stop, url } = yield* receiving(["run", ...args, ...flags], env)
    assert.strictEqual(url.replace(/:\d+\//, "/"), `http://${host}/hooks/annotation`)
    // Stopped while it listens: it goes at once, and leaves what a later run goes on from.
    const said = yield* stop()
    assert.match(said.stderr, /stopped; the next run continues where this one stopped/)
  })

  const listening = ["--listen", "0"]
  const wrong: ReadonlyArray<readonly [string, ReadonlyArray<string>, Record<string, string>, RegExp]> = [
    ["without a secret", listening, { PREFSTREAM_WEBHOOK_SECRET: "" }, /--listen: set the webhook secret in PREFSTREAM_WEBHOOK_SECRET$/m],
    ["with a secret that is none", listening, { PREFSTREAM_WEBHOOK_SECRET: "hunter2" }, /PREFSTREAM_WEBHOOK_SECRET: expected it to begin with whsec_$/m],
    ["with a secret that is too short", listening, { PREFSTREAM_WEBHOOK_SECRET: "whsec_aHVudGVyMg==" }, /expected 16 to 64 bytes, found 7$/m],
    ["with what is no secret after one", listening, { PREFSTREAM_WEBHOOK_SECRET: `${secret} hunter2` }, /expected base64 after whsec_$/m],
    ["with a path that is none", [...listening, "--webhook-path", "hook/:x"], {}, /--webhook-path: expected a path such as \/webhook/],
    ["with a path and nowhere to listen", ["--webhook-path", "/hook"], {}, /--webhook-path requires --listen$/m],
    ["with a path that is taken", [...listening, "--webhook-path", "/healthz"], {}, /--webhook-path: \/healthz is the path of the health check; choose another path$/m],
    ["with a scheme and nowhere to listen", ["--webhook-scheme", "svix"], {}, /--webhook-scheme requires --listen$/m],
    ["with a scheme that is none", [...listening, "--webhook-scheme", "gitub"], {}, /--webhook-scheme: unknown scheme "gitub" \(did you mean github\?\): expected standard-webhooks, svix, .*shared-secret, or the settings of a custom scheme$/m],
    ["with a scheme that is none, in the environment", listening, { PREFSTREAM_WEBHOOK_SCHEME: "md5" }, /PREFSTREAM_WEBHOOK_SCHEME: unknown scheme "md5": expected/],
    ["with settings without a header", [...listening, "--webhook-scheme", "signed={body}"], {}, /--webhook-scheme: header: expected a header name, such as x-signature$/m],
    ["with a setting that is none", [...listening, "--webhook-scheme", "header=x; singed={body}"], {}, /--webhook-scheme: singed: unknown setting \(did you mean signed\?\): expected header, signed, digest/],
    ["with a name and settings that nothing separates", [...listening, "--webhook-scheme", "stripe header=x"], {}, /--webhook-scheme: stripe header: unknown setting/],
    ["with a signed time from nowhere", [...listening, "--webhook-scheme", "header=x; signed={timestamp};{body}"], {}, /--webhook-scheme: timestamp: required, because \{timestamp\} is signed$/m],
    ["with no tolerance at all", [...listening, "--webhook-scheme", "stripe; tolerance=0s"], {}, /--webhook-scheme: tolerance: expected 1 second to 1 hour$/m],
    ["with a tolerance that is none", [...listening, "--webhook-scheme", "stripe; tolerance=5"], {}, /--webhook-scheme: tolerance: expected 1 second to 1 hour$/m],
    ["with a secret that is not base64", [...listening, "--webhook-scheme", "github; key=base64"], { PREFSTREAM_WEBHOOK_SECRET: "hunter2!" }, /PREFSTREAM_WEBHOOK_SECRET: expected base64$/m],
    ["with a path of task ids that is none", [...listening, "--webhook-task-ids", "data..id"], {}, /--webhook-task-ids: expected a path such as/],
    ["with a place of the delivery's id that is none", [...listening, "--webhook-delivery-id", "header:"], {}, /--webhook-delivery-id: expected header:NAME or a path/],
    ["with a shared secret that no header has", [...listening, "--webhook-scheme", "shared-secret"], { PREFSTREAM_WEBHOOK_SECRET: "hunter2\u00e9" }, /PREFSTREAM_WEBHOOK_SECRET: it contains characters that are not allowed in a header$/m],
    ["at a port that is none", ["--listen", "70000"], {}, /--listen.*a port, or an address and a port/],
  ] // prettier-ignore
  for (const [name, flags, env, message] of wrong) {
    test(`${name} is refused by run and collect, and no secret is repeated`, function* () {
      const { args, job, service } = yield* jobOf
      for (const command of [
        ["run", ...args],
        ["collect", "--dir", job],
      ]) {
        const said = yield* cli([...command, ...flags], {
          ...to(service),
          PREFSTREAM_WEBHOOK_SECRET: secret,
          ...env,
        }).pipe(ends(2, message))
        assert.notMatch(said.stderr, /hunter2|aHVudGVyMg|MfKQ9r8G/)
      }
      assert.deepStrictEqual(service.received, [])
    })
  }

  test("takes the scheme and what belongs to it from the environment, and a flag before it", function* () {
    const { args, job, service } = yield* jobOf
    const env = {
      ...to(service),
      // Two, of which one has spaces; each in a line.
      PREFSTREAM_WEBHOOK_SECRET: "one of them\nanother\n",
      PREFSTREAM_WEBHOOK_SCHEME: "github; header=X-Other",
      PREFSTREAM_WEBHOOK_TASK_IDS: "nowhere finished[*].task",
      PREFSTREAM_WEBHOOK_DELIVERY_ID: "id",
    }
    assert.strictEqual((yield* cli(["submit", ...args, ...seldom], env)).status, 0)
    const scheme =
      "header=x-signature; signed={timestamp};{body}; timestamp=x-time; unit=ms; tolerance=1h; encoding=base64"
    const flags = ["--listen", "127.0.0.1:0", "--webhook-scheme", scheme, ...seldom]
    const { ended, url } = yield* receiving(["collect", "--dir", job, "--json", ...flags], env)
    // Older than the default tolerance allows.
    const sentAt = String(Date.now() - 1_800_000)
    const sent = (payload: unknown, key: string) => {
      const body = JSON.stringify(payload)
      const signature = createHmac("sha256", key).update(`${sentAt};${body}`).digest("base64")
      const headers = { "x-signature": signature, "x-time": sentAt }
      return Effect.map(send(url, { body, headers }), ({ status }) => status)
    }
    const finished = (task: string, id: number) => ({ id, finished: [{ task }] })
    assert.strictEqual(yield* sent(finished("task_0", 1), "guessed"), 401)
    assert.strictEqual(yield* sent(finished("task_0", 1), "one of them"), 204)
    assert.strictEqual(yield* sent(finished("task_1", 2), "another"), 204)
    assert.strictEqual(yield* sent({ id: 2, event: "all" }, "another"), 204)
    assert.deepInclude(yield* send(new URL("/healthz", url).href, { method: "GET" }), { status: 200 })
    assert.strictEqual(yield* sent(finished("task_2", 3), "another"), 204)
    yield* ended.pipe(ends(0, /a webhook delivery was refused: its signature matches none of the configured secrets$/m))
    assert.strictEqual(service.received.filter((request) => !ScriptedService.isPost(request)).length, 3)
  })

  test("is refused for a single look, and with the embedded service", function* () {
    const { args, job, service } = yield* jobOf
    const flags = ["--listen", "0"]
    const once = yield* cli(["collect", "--dir", job, "--once", ...flags], to(service))
    assert.deepStrictEqual([once.status, once.stdout], [2, ""])
    assert.match(once.stderr, /--listen cannot be combined with --once/)
    const embedded = yield* cli(["run", ...args, ...flags])
    assert.deepStrictEqual([embedded.status, embedded.stdout], [2, ""])
    assert.match(embedded.stderr, /--listen requires a base URL/)
  })

  test("at a port that is in use ends the command before anything is sent", function* () {
    const { args, service } = yield* jobOf
    const { port } = new URL(service.baseUrl)
    const said = yield* cli(["run", ...args, "--listen", port], {
      ...to(service),
      PREFSTREAM_WEBHOOK_SECRET: secret,
    })
    assert.deepStrictEqual([said.status, said.stdout], [1, ""])
    assert.match(
      said.stderr,
      new RegExp(
        `cannot receive webhooks at 127\\.0\\.0\\.1:${port}: the port is in use; set another one with --listen`,
      ),
    )
    assert.deepStrictEqual(service.received, [])
  })
})
