/**
 * prefstream as a process of its own, as a user starts it. It is one file (see `built.ts`): where a
 * pipeline file imports the sources, use `runSources` of `process.ts` instead.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { bundle } from "./built.ts"
import { type Ended, type Running, root, spawned } from "./process.ts"

/** prefstream, as a file that Node runs. */
export const program = await bundle("prefstream", "src/cli/Process.ts")

/** The words of a command line that starts it. */
export const prefstream = [process.execPath, program]

/** Starts `prefstream ARGS`. */
export const start = (args: ReadonlyArray<string>, env: Record<string, string> = {}, cwd = root): Running => {
  const [node = "", ...words] = prefstream
  return spawned(node, [...words, ...args], { cwd, env })
}

export const run = (args: ReadonlyArray<string>, env: Record<string, string> = {}, cwd = root): Promise<Ended> =>
  start(args, env, cwd).ended

/** `prefstream serve` on a free port of its own, until it is killed. */
export const serve = async (args: ReadonlyArray<string>) => {
  const token = "token-of-a-test"
  const { child, ended, says, talks } = start(["serve", "--port", "0", ...args], { PREFSTREAM_TOKEN: token })
  const [, baseUrl = ""] = /PREFSTREAM_BASE_URL=(\S+)/.exec(await says(/PREFSTREAM_BASE_URL=\S+\n/)) ?? []
  const { origin } = new URL(baseUrl)
  return {
    origin,
    token,
    /** The environment that leads to it. */
    env: { PREFSTREAM_BASE_URL: baseUrl, PREFSTREAM_TOKEN: token },
    kill: () => {
      child.kill("SIGKILL")
      return ended
    },
    /** Signs in by the link of the first start, and sets the webhook; gives its secret. */
    setWebhook: async (url: string) => {
      const [, code] = /#set-up=(\S+)/.exec(await talks(/#set-up=\S+\n/)) ?? []
      const ask = async (method: string, path: string, body: unknown, cookie = "") => {
        const answer = await fetch(`${origin}/dashboard/api${path}`, {
          method,
          headers: { "content-type": "application/json", origin, cookie },
          body: JSON.stringify(body),
        })
        const text = await answer.text()
        assert.strictEqual(answer.status, 200, text)
        return { cookie: answer.headers.getSetCookie()[0]?.split(";")[0], body: JSON.parse(text) as { secret: string } }
      }
      const { cookie } = await ask("POST", "/set-up", { code, name: "Ada", password: "correct horse battery" })
      const { body } = await ask("PUT", "/webhook", { url }, cookie)
      return body.secret
    },
  }
}

/** A process that is ended with the test's scope if it has not ended by itself. */
export const scoped = (spawn: () => Running) =>
  Effect.acquireRelease(Effect.sync(spawn), ({ child, ended }) =>
    Effect.promise(() => {
      child.kill("SIGKILL")
      return ended
    }),
  )

/** `prefstream ARGS` for as long as the test's scope. */
export const started = (args: ReadonlyArray<string>, env: Record<string, string> = {}, cwd = root) =>
  scoped(() => start(args, env, cwd))
