/** Inputs of other machines: from the command line to the manifest, and no credential in anything that is written. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { Manifest } from "../../src/dataset/Dataset.ts"
import * as HubServer from "../dataset/HubServer.ts"
import * as GoogleServer from "../source/place/GoogleServer.ts"
import { keeping, serve } from "../source/place/fileServer.ts"
import { cli, ends, itemLines, readJson } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { traces } from "../support/traces.ts"

const secrets = ["hf_writer", "planted"]
const content = Buffer.from(`${itemLines(4).join("\n")}\n`)

const servers = Effect.gen(function* () {
  const hub = yield* HubServer.make({ hasCdn: true })
  const commit = hub.create("ada/prompts", { "data/a.jsonl": content, "b.jsonl": content }, "private")
  const google = yield* GoogleServer.make()
  google.put("public", "c.jsonl", content)
  const http = yield* serve((request, response) =>
    request.headers.authorization === "Bearer planted"
      ? keeping({ content, etag: '"v1"' })(request, response)
      : response.writeHead(401).end(),
  )
  const home = yield* temporaryDirectory
  const env = {
    HOME: home,
    HF_ENDPOINT: hub.url,
    HF_TOKEN: "hf_writer",
    PREFSTREAM_HTTP_TOKENS: `${http.host}=planted`,
    STORAGE_EMULATOR_HOST: google.url,
  }
  return { commit, env, home, http }
})

/** The files in the folder that have one of the secrets. */
const leaksIn = (folder: string) =>
  traces(folder).flatMap(([file, text]) => (secrets.some((secret) => text.includes(secret)) ? [file] : []))

describe("inputs of other machines", () => {
  test("are read, named in the manifest with their commit, and leave no credential behind", function* () {
    const { commit, env, home, http } = yield* servers
    const job = `${home}/job`
    const files = ["hf://datasets/ada/prompts", `${http.url}/d.jsonl?signature=planted`, "gs://public/c.jsonl"]
    const run = yield* cli(["run", ...files, "--expert", "longest", "--dir", job, "--log-level", "all"], env).pipe(
      ends(0),
    )
    const { inputs } = yield* readJson<Manifest>(`${job}/dataset/manifest.json`)
    assert.deepStrictEqual(
      inputs?.map(({ file, records }) => [file, records]),
      [
        ["gs://public/c.jsonl", 4],
        [`hf://datasets/ada/prompts@${commit}/b.jsonl`, 4],
        [`hf://datasets/ada/prompts@${commit}/data/a.jsonl`, 4],
        [`${http.url}/d.jsonl`, 4],
      ],
    )
    for (const secret of secrets) assert.notInclude(run.stdout + run.stderr, secret)
    assert.deepStrictEqual(leaksIn(job), [])
  })

  test("that fail say why, and leave no credential behind", function* () {
    const { env, home, http } = yield* servers
    const job = `${home}/job`
    for (const [file, other, words] of [
      ["hf://datasets/ada/prompts", { HF_TOKEN: "hf_planted" }, "the Hub refuses the access token (401)"],
      [`${http.url}/d.jsonl`, { PREFSTREAM_HTTP_TOKENS: `${http.host}=planted2` }, "the server refuses the token for "],
      [`http://ada:planted@${http.host}/d.jsonl`, {}, "the server refuses user and password in the URL (401)"],
      ["gs://data/c.jsonl", {}, "the object is not public, and no usable credentials were found"],
    ] as const) {
      const args = ["run", file, "--expert", "longest", "--dir", job, "--log-level", "all"]
      const run = yield* cli(args, { ...env, ...other }).pipe(ends(1))
      assert.include(run.stderr, words)
      for (const secret of secrets) assert.notInclude(run.stdout + run.stderr, secret)
    }
    assert.deepStrictEqual(leaksIn(home), [])
  })
})
