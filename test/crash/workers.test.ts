/**
 * In CI, and with `WORKERS=1`: four workers over one ledger in PostgreSQL, of which the one that reads is killed, and another;
 * one is frozen for longer than its lease, and one cut off from the database; or all are started anew, and the database. The
 * job comes to what one process comes to, once a person has decided what is in doubt.
 *
 * When, is drawn from a seed that is printed; `CRASH_SEED` sets it. It decides nothing of what is asserted.
 */
import { randomInt } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { seeded } from "../pair/stats/support.ts"
import { cases, drawn, manyCases } from "../support/cases.ts"
import { cli } from "../support/cli.ts"
import { datasetHashes } from "../support/hashes.ts"
import { platform } from "../support/job.ts"
import { notInstalled, Server } from "../support/postgres.ts"
import { type Running, spawned } from "../support/process.ts"
import { prefstream } from "../support/program.ts"
import * as Network from "./support/Network.ts"
import * as RecordingService from "./support/RecordingService.ts"

const seed = Number(process.env["CRASH_SEED"] ?? randomInt(2 ** 31))
/** They wait for leases to end, and for requests that a killed worker may have sent. */
const isAsked = manyCases || process.env["WORKERS"] !== undefined
const rounds = cases(1, 10)
const tasks = cases(200, 4_000)

const scratch = mkdtempSync(join(tmpdir(), "prefstream-workers-"))
/** So long that the input is read in several steps (`task/Plan`). */
const long = "and so on ".repeat(Math.ceil(700_000 / (tasks * 2)))
const lines = Array.from({ length: tasks * 2 }, (_, i) =>
  JSON.stringify({ id: `item-${i}`, prompt: `Question ${i}?`, completions: ["one", `another ${i}: ${long}`] }),
)

/** The input over HTTP. While `gate` is not open, its last part does not come, so whoever reads it is not done. */
const serveInput = async (host: string) => {
  const input = { url: "", gate: Promise.resolve(), close: () => void server.close() }
  const firstPart = Math.round(lines.length * 0.7)
  const send = async (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" })
    response.write(`${lines.slice(0, firstPart).join("\n")}\n`)
    await input.gate
    response.end(`${lines.slice(firstPart).join("\n")}\n`)
  }
  const server = createServer((_, response) => void send(response))
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  input.url = `http://${host}:${(server.address() as AddressInfo).port}/items.jsonl`
  return input
}

const here = (args: ReadonlyArray<string>, env: Record<string, string>) =>
  Effect.runPromise(Effect.provide(cli(args, env), platform))

const until = async (what: string, isSo: () => Promise<boolean>) => {
  for (const deadline = performance.now() + 300_000; !(await isSo()); await setTimeout(200)) {
    if (performance.now() > deadline) throw new Error(`waited five minutes for: ${what}`)
  }
}

/** As `resolve --json` lists it. */
interface Issue {
  readonly task: number
  readonly state: string
  readonly idempotency_key: string
}

interface Crew {
  readonly workers: Array<Running>
  readonly names: Array<string>
  /** The number of tasks under an SQL condition. */
  readonly count: (condition: string) => Promise<number>
  /** How many parts a worker has. */
  readonly partsOf: (worker: number) => Promise<number>
  /** Which worker reads the input. */
  readonly reader: () => Promise<number>
  /** Lets the last part of the input come. */
  readonly openGate: () => void
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
    })
    afterAll(async () => {
      await server.close()
      rmSync(scratch, { recursive: true, force: true })
    })

    interface Neighbors {
      /** Of the service. */
      readonly port: number
      readonly schema: string
    }

    /** How a worker is started: what stands before its command line, its address, and where it finds what. */
    interface Place {
      readonly before?: ReadonlyArray<string>
      readonly args?: ReadonlyArray<string>
      readonly env?: Record<string, string>
    }

    interface Surroundings {
      /** This machine's address for all workers. */
      readonly host?: string
      readonly placeOf?: (worker: number, to: Neighbors) => Promise<Place>
    }

    /** Gives the most tasks that are in doubt at the end of a round. */
    const play = async (
      name: string,
      keys: "honored" | "ignored",
      disturb: (crew: Crew) => Promise<void>,
      { host = "127.0.0.1", placeOf = () => Promise.resolve({}) }: Surroundings = {},
    ) => {
      const input = await serveInput(host)
      const service = await RecordingService.start(keys, 1_000_000)
      const port = Number(new URL(service.baseUrl).port)
      const flags = [input.url, "--batch-size", "2", "--idempotency-key", keys]
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
        const { promise: gate, resolve: openGate } = Promise.withResolvers<void>()
        input.gate = gate
        const { close, value: ask } = server.connect(schema)
        const count = async (condition: string) =>
          Number((await ask(`SELECT COUNT(*) FROM task WHERE ${condition}`)) ?? -1)
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
          const random = seeded(seed + round)
          const first = tasks * (0.05 + 0.2 * random())
          await until("the first tasks", async () => (await count("state <> 'planned'")) >= first)
          await disturb({
            workers,
            names,
            count,
            partsOf: async (worker) =>
              Number((await ask(`SELECT COUNT(*) FROM part_owner WHERE owner = '${names[worker]}'`)) ?? -1),
            reader: async () => names.indexOf(String(await ask("SELECT owner FROM part_owner WHERE part = -1"))),
            openGate,
            kill,
            replace: begin,
            random,
          })
          const isRead = async () => Number(await ask("SELECT read_finished FROM run ORDER BY run DESC LIMIT 1")) === 1
          await until(
            "the end",
            async () =>
              (await count("state NOT IN ('completed', 'in_doubt')")) === 0 &&
              (await count("true")) === tasks &&
              (await isRead()),
          )
        } catch (failure) {
          const ended = workers.filter(({ child }) => child.exitCode !== null)
          const said = await Promise.all(ended.map(async (worker) => (await worker.ended).stderr.slice(-3_000)))
          throw new Error(`${String(failure)}; workers that ended by themselves said:\n${said.join("\n\n")}`, {
            cause: failure,
          })
        } finally {
          openGate()
          for (const [i, { child }] of workers.entries()) {
            child.kill("SIGCONT")
            if (child.exitCode === null && child.signalCode === null) await kill(i)
          }
        }

        const bought = () => book.posts.filter(({ repeated }) => !repeated).length
        const isOnce = () => assert.strictEqual(book.keys.size, bought(), "a task was bought twice")
        isOnce()
        const job = ["--dir", `${scratch}/${token}`]
        const succeeds = async (...args: ReadonlyArray<string>) => {
          const ended = await here([...args, ...job], env)
          assert.strictEqual(ended.status, 0, ended.stderr)
          return ended.stdout
        }
        const listed = JSON.parse(await succeeds("resolve", "--json")) as ReadonlyArray<Issue>
        const doubts = listed.filter(({ state }) => state === "in_doubt")
        assert.strictEqual(doubts.length, await count("state = 'in_doubt'"))
        await close()
        mostDoubts = Math.max(mostDoubts, doubts.length)
        // What is in doubt may be there, and everything else is. The service's own record decides.
        const there = doubts.filter(({ idempotency_key }) => book.keys.has(idempotency_key))
        assert.strictEqual(bought(), tasks - doubts.length + there.length)
        for (const { idempotency_key, task } of there) {
          await succeeds("resolve", String(task), "--adopt", book.keys.get(idempotency_key)!.id)
        }
        if (there.length < doubts.length) await succeeds("resolve", "--all", "in_doubt", "--send-again")
        if (doubts.length > 0) await succeeds("run", ...flags, "--moved", "--poll-min", "20ms")
        else await succeeds("export")
        isOnce()
        assert.strictEqual(bought(), tasks)
        assert.deepStrictEqual(
          datasetHashes(`${scratch}/${token}/dataset`),
          datasetHashes(`${scratch}/${name}-alone/dataset`),
        )
      }
      await service.close()
      input.close()
      return mostDoubts
    }

    const kinds = drawn(["honored", "ignored", "anew"] as const)
    for (const keys of kinds.filter((kind) => kind !== "anew")) {
      const losses = Network.isPossible
        ? "killed, frozen and cut off"
        : "killed and frozen (none cut off: that takes root)"
      it(`${losses}, at a service by which keys are ${keys}: nothing is sent twice, nothing is lost`, async () => {
        const network = Network.isPossible ? Network.make() : undefined
        let service: Promise<number> | undefined
        /** The first is the one that is cut off. */
        const placeOf = async (worker: number, { port, schema }: Neighbors): Promise<Place> => {
          if (network === undefined) return {}
          const { before, database, inside, outside } = network
          const args = ["--address", `${worker === 0 ? inside : outside}:${4100 + worker}`]
          // One address for all: a job is bound to its service by it.
          service ??= Network.passing(outside, { port })
          const baseUrl = { PREFSTREAM_BASE_URL: `http://${outside}:${await service}/v1` }
          if (worker !== 0) return { args, env: baseUrl }
          const socket = await Network.passing(database, { path: join(server.folder, ".s.PGSQL.5432") })
          const options = new URLSearchParams({ options: `-csearch_path=${schema}` })
          const url = `postgres://prefstream@${database}:${socket}/postgres?${options}`
          return { before, args, env: { ...baseUrl, PREFSTREAM_LEDGER: url } }
        }
        const disturb = async ({ count, kill, openGate, partsOf, random, reader, replace, workers }: Crew) => {
          const first = await reader()
          assert.isBelow(await count("true"), tasks, "all was read before the reader was lost")
          await kill(first)
          openGate()
          if (first === 0) await replace(0)
          await until("parts for the one in its own network", async () => (await partsOf(0)) > 0)
          const [frozen, killed] = [1, 2, 3].filter((worker) => worker !== first) as [number, number]
          workers[frozen]!.child.kill("SIGSTOP")
          network?.cut()
          await until("others to take the parts of the frozen one", async () => (await partsOf(frozen)) === 0)
          if (network !== undefined) {
            await until("others to take those of the one cut off", async () => (await partsOf(0)) === 0)
          }
          const sent = tasks * (0.3 + 0.3 * random())
          await until("more tasks", async () => (await count("state IN ('submitted', 'completed')")) >= sent)
          await kill(killed)
          network?.mend()
          workers[frozen]!.child.kill("SIGCONT")
          await until("the one that was cut off to be back", async () => (await partsOf(0)) > 0)
          assert.isNull(workers[0]!.child.exitCode)
        }
        try {
          // Of each of those that are lost, the requests that were under way.
          assert.isAtMost(
            await play(`lost-${keys}`, keys, disturb, network && { host: network.outside, placeOf }),
            keys === "honored" ? 0 : 4 * 8,
          )
        } finally {
          network?.close()
        }
      })
    }

    it.runIf(kinds.includes("anew"))(
      "started anew one after the other, after the database was: the same bytes",
      async () => {
        const doubts = await play("anew", "honored", async ({ count, kill, openGate, replace }) => {
          await server.stop()
          await server.start()
          openGate()
          await until("more tasks", async () => (await count("state IN ('submitted', 'completed')")) >= tasks * 0.5)
          for (const worker of [0, 1, 2, 3]) {
            await kill(worker, "SIGTERM")
            await replace(worker)
          }
        })
        assert.strictEqual(doubts, 0)
      },
    )
  },
)
