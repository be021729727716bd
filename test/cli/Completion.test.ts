/** The scripts that `prefstream completion` prints, in real shells. */
import { spawn, spawnSync } from "node:child_process"
import { text } from "node:stream/consumers"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { cli, ends, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"

const isThere = (program: string) => spawnSync(program, ["--version"]).status === 0

/** `script` of util-linux gives a shell a terminal, on which it completes. */
const hasScript = /util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "")

/** A folder with the script, and files to complete. */
const folderFor = Effect.fnUntraced(function* (shell: string, name: string) {
  const { stdout } = yield* cli(["completion", shell]).pipe(ends(0))
  const folder = yield* temporaryDirectory
  yield* (yield* FileSystem.FileSystem).makeDirectory(`${folder}/sub1/deep`, { recursive: true })
  yield* write(`${folder}/items.jsonl`, [])
  yield* write(`${folder}/gold file.jsonl`, [])
  yield* write(`${folder}/${name}`, [stdout])
  return folder
})

/** What `prefstream` is called with as these lines, of which » is the Tab key, are typed into a shell. */
const typed = Effect.fnUntraced(function* (
  folder: string,
  shell: string,
  before: string,
  lines: ReadonlyArray<string>,
) {
  const show = `prefstream() { printf '<%s>' "$@"; echo; }`
  const child = spawn("script", ["-qec", shell, "/dev/null"], { cwd: folder, env: { ...process.env, TERM: "dumb" } })
  child.stdin.write([before, show, ...lines.map((line) => line.replaceAll("»", "\t")), "exit", ""].join("\n"))
  const screen = yield* Effect.promise(() => text(child.stdout))
  return screen
    .split(/\r*\n/)
    .filter((line) => line.startsWith("<"))
    .map((line) => line.slice(1, -1).split("><").join(" "))
})

const cases = [
  ["sta»", "status"],
  ["ledger pr»", "ledger prune"],
  ["help val»", "help validate"],
  ["config exp»", "config export"],
  ["run --thr»", "run --threshold"],
  ["run --expert lo»", "run --expert longest"],
  ["run --webhook-scheme gi»", "run --webhook-scheme github"],
  ["run --log-format j»", "run --log-format json"],
  ["export --format ver»", "export --format verl"],
  ["run it»", "run items.jsonl"],
  ["inspect gold»", "inspect gold file.jsonl"],
  ["ledger backup it»", "ledger backup items.jsonl"],
] as const

describe("completion", () => {
  describe.skipIf(!hasScript)("of bash (needs script of util-linux)", () => {
    test("completes", function* () {
      const folder = yield* folderFor("bash", "completion.bash")
      const inBash = [
        ...cases,
        ["run --threshold near»0.1", "run --threshold near-duplicates=0.1"],
        ["run --expert go»gold» x", "run --expert gold:gold file.jsonl x"],
        ["export --dir su»de» --job x", "export --dir sub1/deep/ --job x"],
        ["verify su»", "verify sub1/"],
      ] as const
      assert.deepStrictEqual(
        yield* typed(
          folder,
          "bash --norc --noprofile -i",
          "source completion.bash",
          inBash.map(([line]) => `prefstream ${line}`),
        ),
        inBash.map(([, completed]) => completed),
      )
    })
  })

  describe.skipIf(!hasScript || !isThere("zsh"))("of zsh (needs zsh and script of util-linux)", () => {
    test("completes", function* () {
      const folder = yield* folderFor("zsh", "_prefstream")
      const inZsh = [...cases, ["export --dir su»de» --job x", "export --dir sub1/deep --job x"]] as const
      assert.deepStrictEqual(
        yield* typed(
          folder,
          "zsh -f -i",
          "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; unset zle_bracketed_paste",
          inZsh.map(([line]) => `prefstream ${line}`),
        ),
        inZsh.map(([, completed]) => completed),
      )
    })
  })

  describe.skipIf(!isThere("fish"))("of fish (needs fish)", () => {
    test("completes", function* () {
      const folder = yield* folderFor("fish", "completion.fish")
      for (const [line, completed] of cases) {
        const word = line.slice(0, -1)
        const { stdout } = spawnSync("fish", ["-c", `source completion.fish; complete -C 'prefstream ${word}'`], {
          cwd: folder,
          encoding: "utf8",
          env: { ...process.env, HOME: folder },
        })
        const last = completed.slice(word.lastIndexOf(" ") + 1)
        assert.strictEqual(stdout.split(/[\t\n]/)[0]?.replaceAll("\\", ""), last, line)
      }
    })
  })
})
