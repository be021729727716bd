import { assert, describe } from "@effect/vitest"
import { FileSystem } from "effect"
import * as HubServer from "../dataset/HubServer.ts"
import { cli, ends } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { sample } from "../support/process.ts"

describe("prefstream push", () => {
  test("pushes what a run wrote, by a token of the environment or of a login", function* () {
    const fs = yield* FileSystem.FileSystem
    const server = yield* HubServer.make()
    const job = yield* temporaryDirectory
    yield* cli(["run", sample, "--dir", job, "--expert", `gold:${sample}`]).pipe(ends(0))
    const home = yield* temporaryDirectory
    const push = (environment: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
      cli(["push", `${job}/dataset`, "--repo", "ada/preferences", ...args], {
        HF_ENDPOINT: server.url,
        HF_HOME: home,
        ...environment,
      })

    const without = yield* push({})
    assert.deepStrictEqual(
      [without.status, without.stderr],
      [2, "prefstream: no access token for the Hugging Face Hub: set HF_TOKEN, or log in with hf auth login\n"],
    )
    const wrong = yield* push({ HF_TOKEN: "secret" }).pipe(ends(2))
    assert.strictEqual(wrong.stderr, "prefstream: HF_TOKEN: expected an access token, which begins with hf_\n")

    const pushed = yield* push({ HF_TOKEN: "hf_writer" }).pipe(ends(0))
    assert.match(
      pushed.stdout,
      /^Pushed to ada\/preferences, commit [0-9a-f]{12}: 144 pairs in \d+ files, [\d.]+ kB\.\nhttp:\S+\/datasets\/ada\/preferences\n$/,
    )
    assert.include(pushed.stderr, "data/train-00000-of-00001.parquet has arrived")

    yield* fs.writeFileString(`${home}/token`, "hf_writer\n")
    const again = yield* push({}, "--json").pipe(ends(0))
    assert.deepInclude(JSON.parse(again.stdout), { repository: "ada/preferences", rows: 144, unchanged: true })
    const branch = yield* push({}, "--branch", "v2", "--public")
    assert.match(branch.stdout, /^ada\/preferences \(v2\) already has this dataset: 144 pairs in /)
  })

  test("needs a repository's name", function* () {
    const folder = yield* temporaryDirectory
    const env = { HF_TOKEN: "hf_writer" }
    const without = yield* cli(["push", folder], env).pipe(ends(2))
    assert.include(without.stderr, "--repo")
    const wrong = yield* cli(["push", folder, "--repo", "preferences"], env)
    assert.deepStrictEqual(
      [wrong.status, wrong.stderr],
      [2, "prefstream: --repo: expected user/name or organization/name\n"],
    )
  })
})
