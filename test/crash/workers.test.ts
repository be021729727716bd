/**
 * In CI, and with `WORKERS=1`: four workers over one ledger in PostgreSQL, of which some are killed, frozen for longer than
 * their lease, cut off from the database, or started anew; and a database that is. The job comes to what one process comes
 * to.
 *
 * When, is drawn from a seed that is printed; `CRASH_SEED` sets it. It decides nothing of what is asserted.
 */
import { execFileSync } from "node:child_process"
import { randomInt } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { cases, manyCases } from "../support/cases.ts"
import { cli } from "../support/cli.ts"
import { datasetHashes } from "../support/hashes.ts"
import { platform } from "../support/job.ts"
import { notInstalled, Server } from "../support/postgres.ts"
import { type Running, spawned } from "../support/process.ts"
import { prefstream } from "../support/program.ts"
import * as RecordingService from "./support/RecordingService.ts"

const seed = Number(process.env["CRASH_SEED"] ?? randomInt(2 ** 31))
/** They take six minutes, most of it waiting: for requests that those who are lost may have sent. */
const isAsked = manyCases || process.env["WORKERS"] !== undefined
const rounds = cases(1, 20)
const tasks = cases(400, 4_000)

const scratch = mkdtempSync(join(tmpdir(), "prefstream-workers-"))
const input = join(scratch, "items.jsonl")

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
const draws = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const here = (args: ReadonlyArray<string>, env: Record<string, string>) =>
  Effect.runPromise(Effect.provide(cli(args, env), platform))

const until = async (what: string, isSo: () => boolean) => {
  for (const deadline = performance.now() + 300_000; !isSo(); await setTimeout(100)) {
    if (performance.now() > deadline) throw new Error(`waited five minutes for: ${what}`)
  }
}

const ip = (...args: ReadonlyArray<string>) => execFileSync("ip", args, { stdio: "pipe" })

/** Network namespaces need root, and Linux's `ip`. */
const canCut = (() => {
  try {
    ip("netns", "list")
    return process.getuid?.() === 0
  } catch {
    return false
  }
})()

/** Passes connections on to an address or a socket. */
const passing = async (host: string, to: { readonly port: number } | { readonly path: string }) => {
  const server = createServer((from) => {
    const target = connect(to)
    from.pipe(target).pipe(from)
    from.on("error", () => target.destroy())
    target.on("error", () => from.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  server.unref()
  return (server.address() as AddressInfo).port
}

interface Crew {
  readonly workers: Array<Running>
  readonly names: Array<string>
  /** Tasks under an SQL condition. */
  readonly count: (condition: string) => number
  /** How many parts a worker has. */
  readonly partsOf: (worker: number) => number
  /** Which worker reads the input. */
  readonly reader: () => number
  readonly kill: (worker: number, signal?: NodeJS.Signals) => Promise<void>
  /** A worker in the place of one that has ended. */
  readonly replace: (worker: number) => Promise<void>
  readonly random: () => number
}

describe.skipIf(notInstalled || !isAsked)(
  `four workers, CRASH_SEED=${seed}`,
  { timeout: cases(1_200_000, 7_200_000) },
  () => {
    let server: Server
    beforeAll(async () => {
      server = await Server.make()
      const items = Array.from({ length: tasks * 2 }, (_, i) => ({
        id: `item-${i}`,
        prompt: `Question ${i}?`,
        completions: ["one", `another ${i}`],
      }))
      writeFileSync(input, items.map((item) => `${JSON.stringify(item)}\n`).join(""))
    })
    afterAll(async () => {
      await server.close()
      rmSync(scratch, { recursive: true, force: true })
    })

    /** How a worker is started: what stands before its command line, its address, and where it finds what. */
    interface Place {
      readonly before?: ReadonlyArray<string>
      readonly args?: ReadonlyArray<string>
      readonly env?: Record<string, string>
    }

    /** Gives the most tasks that are in doubt at the end of a round. */
    const play = async (
      name: string,
      keys: "honored" | "ignored",
      disturb: (crew: Crew) => Promise<void>,
      placeOf: (worker: number, to: { readonly port: number; readonly schema: string }) => Promise<Place> = () =>
        Promise.resolve({}),
    ) => {
      const service = await RecordingService.start(keys)
      const port = Number(new URL(service.baseUrl).port)
      const flags = [input, "--batch-size", "2", "--idempotency-key", keys]
      service.book("alone")
      const alone = await here(
        ["run", ...flags, "--dir", `${scratch}/${name}-alone`, "--requests-per-second", "1000", "--poll-min", "20ms"],
        { PREFSTREAM_BASE_URL: service.baseUrl, PREFSTREAM_TOKEN: "alone" },
      )
      assert.strictEqual(alone.status, 0, alone.stderr)

      let mostDoubts = 0
      for (let round = 0; round < rounds; round++) {
        const token = `${name}-${round}`
        const book = service.book(token)
        const schema = server.newSchema()
        const env = {
          PREFSTREAM_BASE_URL: service.baseUrl,
          PREFSTREAM_TOKEN: token,
          PREFSTREAM_LEDGER: server.url(schema),
        }
        const ask = (statement: string) => {
          try {
            return server.psql(statement, schema)
          } catch {
            return "" // no tables yet, or no server
          }
        }
        const count = (condition: string) => Number(ask(`SELECT COUNT(*) FROM task WHERE ${condition}`) || "-1")
        const pace = [
          "--requests-per-second",
          String(Math.ceil(tasks / 20)),
          "--poll-min",
          "100ms",
          "--poll-max",
          "500ms",
        ]
        const workers: Array<Running> = []
        const names: Array<string> = []
        let started = 0
        const begin = async (worker: number) => {
          const place = await placeOf(worker, { port, schema })
          const [command = "", ...words] = [...(place.before ?? []), ...prefstream]
          const dir = `${scratch}/${token}-${started++}`
          const args = ["worker", ...flags, ...pace, "--lease", "10s", "--dir", dir, ...(place.args ?? [])]
          const running = spawned(command, [...words, ...args], { env: { ...env, ...place.env } })
          workers[worker] = running
          names[worker] = /^Worker (\S+)/m.exec(await running.talks(/^Worker \S+/m))![1]!
        }
        const kill = async (worker: number, signal: NodeJS.Signals = "SIGKILL") => {
          workers[worker]!.child.kill(signal)
          await workers[worker]!.ended
        }
        try {
          await Promise.all([0, 1, 2, 3].map(begin))
          const random = draws(seed + round)
          await until("the first tasks", () => count("state <> 'planned'") >= tasks * (0.05 + 0.2 * random()))
          await disturb({
            workers,
            names,
            count,
            partsOf: (worker) =>
              Number(ask(`SELECT COUNT(*) FROM part_owner WHERE owner = '${names[worker]}'`) || "-1"),
            reader: () => names.indexOf(ask("SELECT owner FROM part_owner WHERE part = -1")),
            kill,
            replace: begin,
            random,
          })
          await until("the end", () => count("state NOT IN ('completed', 'in_doubt')") === 0 && count("true") === tasks)
        } catch (failure) {
          const ended = workers.filter(({ child }) => child.exitCode !== null)
          const said = await Promise.all(ended.map(async (worker) => (await worker.ended).stderr.slice(-3_000)))
          throw new Error(`${String(failure)}; workers that ended by themselves said:\n${said.join("\n\n")}`, {
            cause: failure,
          })
        } finally {
          for (const [i, { child }] of workers.entries()) {
            child.kill("SIGCONT")
            if (child.exitCode === null && child.signalCode === null) await kill(i)
          }
        }

        const doubts = count("state = 'in_doubt'")
        const bought = book.posts.filter(({ repeated }) => !repeated)
        assert.strictEqual(book.keys.size, bought.length, "a task was bought twice")
        mostDoubts = Math.max(mostDoubts, doubts)
        // What is in doubt may be there, and everything else is.
        assert.isAtLeast(bought.length, tasks - doubts)
        if (doubts > 0) continue
        const exported = await here(["export", "--dir", `${scratch}/${token}`], env)
        assert.strictEqual(exported.status, 0, exported.stderr)
        assert.deepStrictEqual(
          datasetHashes(`${scratch}/${token}/dataset`),
          datasetHashes(`${scratch}/${name}-alone/dataset`),
        )
      }
      await service.close()
      return mostDoubts
    }

    /** The one that reads is killed, and another; one is frozen until the others have its parts. */
    const lose = async ({ count, kill, partsOf, random, reader, workers }: Crew) => {
      const first = reader()
      await kill(first)
      const [frozen, killed] = [0, 1, 2, 3].filter((worker) => worker !== first) as [number, number, number]
      workers[frozen]!.child.kill("SIGSTOP")
      await until("more tasks", () => count("state IN ('submitted', 'completed')") >= tasks * (0.3 + 0.3 * random()))
      await kill(killed)
      await until("others to take the parts of the frozen one", () => partsOf(frozen) === 0)
      workers[frozen]!.child.kill("SIGCONT")
    }

    for (const keys of ["honored", "ignored"] as const) {
      it(`killed and frozen, at a service by which keys are ${keys}: nothing is sent twice, nothing is lost`, async () => {
        // Of each of those that are lost, the requests that were under way.
        assert.isAtMost(await play(`lost-${keys}`, keys, lose), keys === "honored" ? 0 : 3 * 8)
      })
    }

    it("started anew one after the other, after the database was: the same bytes", async () => {
      const doubts = await play("anew", "honored", async ({ count, kill, replace }) => {
        await server.stop()
        await server.start()
        await until("more tasks", () => count("state IN ('submitted', 'completed')") >= tasks * 0.5)
        for (const worker of [0, 1, 2, 3]) {
          await kill(worker, "SIGTERM")
          await replace(worker)
        }
      })
      assert.strictEqual(doubts, 0)
    })

    it.skipIf(!canCut)("cut off from the database, but not from the service, and back: the same bytes", async () => {
      const space = `prefstream-${process.pid}`
      // One way to the database, and one to the service and the other workers.
      const ways = [
        ["pfdb0", "pfdb1", "10.213.77"],
        ["pfsv0", "pfsv1", "10.213.78"],
      ] as const
      // What a killed run of the tests has left.
      const links = ip("-o", "link").toString()
      for (const [outside] of ways) if (links.includes(` ${outside}@`)) ip("link", "del", outside)
      ip("netns", "add", space)
      try {
        for (const [outside, inside, net] of ways) {
          ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", space)
          ip("addr", "add", `${net}.1/24`, "dev", outside)
          ip("link", "set", outside, "up")
          ip("-n", space, "addr", "add", `${net}.2/24`, "dev", inside)
          ip("-n", space, "link", "set", inside, "up")
        }
        ip("-n", space, "link", "set", "lo", "up")
        let service: Promise<number> | undefined
        const socket = { path: join(server.folder, ".s.PGSQL.5432") }
        const placeOf = async (
          worker: number,
          { port, schema }: { readonly port: number; readonly schema: string },
        ) => {
          const address = ["--address", `10.213.78.${worker === 0 ? 2 : 1}:${4100 + worker}`]
          // One address for all: a job is bound to its service by it.
          service ??= passing("10.213.78.1", { port })
          const baseUrl = { PREFSTREAM_BASE_URL: `http://10.213.78.1:${await service}/v1` }
          if (worker !== 0) return { args: address, env: baseUrl }
          const database = await passing("10.213.77.1", socket)
          const options = new URLSearchParams({ options: `-csearch_path=${schema}` })
          return {
            before: ["ip", "netns", "exec", space],
            args: address,
            env: {
              ...baseUrl,
              PREFSTREAM_LEDGER: `postgres://prefstream@10.213.77.1:${database}/postgres?${options}`,
            },
          }
        }
        const doubts = await play(
          "cut",
          "honored",
          async ({ partsOf, workers }) => {
            await until("parts for the one in its own network", () => partsOf(0) > 0)
            ip("link", "set", "pfdb0", "down")
            await until("others to take its parts", () => partsOf(0) === 0)
            ip("link", "set", "pfdb0", "up")
            await until("it to be back", () => partsOf(0) > 0)
            assert.isNull(workers[0]!.child.exitCode)
          },
          placeOf,
        )
        assert.strictEqual(doubts, 0)
      } finally {
        ip("netns", "del", space)
      }
    })
  },
)
