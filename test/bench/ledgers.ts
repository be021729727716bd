/**
 * A whole run with its ledger in PostgreSQL compared with the same run with its ledger in SQLite: 20,000 items of real
 * texts, tasks of 50, and a service that answers at once (durabilityService.ts). Both write to the disk before they
 * acknowledge.
 *
 *     node --conditions=prefstream-source test/bench/ledgers.ts [ITEMS] [ROUNDS]      (default 20000 3; needs arena-hard,
 *                                                                                     PostgreSQL, and `npm run build`)
 *
 * In turns, each a process of its own. Exits with 1 where PostgreSQL's throughput is less than 0.7 of SQLite's.
 */
import { spawnSync } from "node:child_process"
import { rmSync } from "node:fs"
import { Server } from "../support/postgres.ts"
import { prepare } from "./arenaRun.ts"
import { median, numbers } from "./setup.ts"

const [items, rounds] = numbers(20_000, 3)
const { command, job, service } = await prepare(items)
const server = await Server.makeDurable()

const run = (environment: Record<string, string>) => {
  const begun = performance.now()
  const { status, stderr } = spawnSync(process.execPath, command, {
    encoding: "utf8",
    env: { ...process.env, PREFSTREAM_TOKEN: "bench", ...environment },
  })
  if (status !== 0) throw new Error(`the run ended with ${status}: ${stderr}`)
  rmSync(job, { recursive: true })
  return (performance.now() - begun) / 1000
}

const seconds = { SQLite: [] as Array<number>, PostgreSQL: [] as Array<number> }
for (let round = 0; round < rounds; round++) {
  seconds.SQLite.push(run({}))
  seconds.PostgreSQL.push(run({ PREFSTREAM_LEDGER: server.url(server.newSchema()), PREFSTREAM_JOB: "bench" }))
}
service.kill()
await server.close()

console.log(`${items} items; medians of ${rounds} rounds`)
for (const [name, times] of Object.entries(seconds)) console.log(`${name}: ${median(times).toFixed(1)} s`)
const ratio = median(seconds.SQLite) / median(seconds.PostgreSQL)
console.log(`throughput with PostgreSQL ${ratio.toFixed(2)} of that with SQLite (at least 0.7)`)
process.exitCode = ratio >= 0.7 ? 0 : 1
