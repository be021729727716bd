/**
 * Jobs are killed (SIGKILL) at random moments (1, 2 in CI, or 48 with all cases), several times each: `run`,
 * or `submit`, `collect` and `export`, one after the other; with all cases, each service sees both.
 * The command that died is run again until it is through, and comes to what the undisturbed job
 * comes to: to a ledger that is whole, too.
 *
 * The moments are drawn over the time that the undisturbed command takes, from a seed that is
 * printed; `CRASH_SEED` sets it. They decide when a process dies, and nothing of what is asserted.
 */
import { randomInt } from "node:crypto"
import { afterAll, assert, describe, it } from "vitest"
import { seeded } from "../pair/stats/support.ts"
import { allCases, cases, manyCases, threads } from "../support/cases.ts"
import * as Doubts from "./support/Doubts.ts"
import * as Input from "./support/input.ts"
import { command, killedAfter, watched } from "./support/Job.ts"
import * as Recorded from "./support/Recorded.ts"
import * as RecordingService from "./support/RecordingService.ts"
import * as Room from "./support/Room.ts"

const kills = manyCases ? cases(2, 16) : 1
const seed = Number(process.env["CRASH_SEED"] ?? randomInt(2 ** 31))

const room = Room.make()
afterAll(room.remove)

const input = Input.write(`${room.folder}/input.jsonl`, { misfits: true, long: false, repeated: true })

describe(`random moments, CRASH_SEED=${seed}, THREADS=${threads}`, { concurrent: true, timeout: 600_000 }, () => {
  for (const [i, keys] of (["honored", "honored", "ignored"] as const).entries()) {
    if (!allCases && i !== seed % 3) continue
    const asking = i === 0 ? [] : Input.asking(`${room.folder}/gold.jsonl`, 3)
    const asked = i === 0 ? "" : ", with three votes and gold items"
    it(`${kills} with a service by which keys are ${keys}${asked} (${i + 1})`, async () => {
      const service = await RecordingService.start(keys)
      const random = seeded(seed + i)
      const pace = ["--idempotency-key", keys, "--concurrency", "2", "--requests-per-second", "1000"]
      const submit = [input, "--batch-size", "6", ...asking, ...pace]
      const collect = [...pace, "--poll-min", "20ms", "--poll-max", "50ms"]
      const all = [
        [["run", ...submit, ...collect.slice(pace.length)]],
        [["submit", ...submit], ["collect", ...collect], ["export"]],
      ]
      const ways = allCases ? all : [all[i % 2]!]
      const undisturbed = await Promise.all(
        ways.map(async (commands, way) => {
          const it = Recorded.make({ room, service }, `${keys} ${i} undisturbed ${way}`)
          const took: Array<number> = []
          const seen: Array<ReturnType<typeof Recorded.seen>> = []
          for (const command of commands) {
            const { trace, ...report } = await watched(it.job, command)
            took.push(trace.took)
            seen.push(Recorded.seen(it, report))
          }
          return { took, seen }
        }),
      )

      /** Runs a command again and again until it is through; kills it so often at most. */
      const persist = async (it: Recorded.Recorded, command: ReadonlyArray<string>, took: number, most: number) => {
        for (let times = 0; ;) {
          const report = await killedAfter(it.job, command, times < most ? random() * took : 600_000)
          if (report === undefined) times++
          else if ((await Doubts.settle(it)) === 0) return { times, came: Recorded.seen(it, report) }
        }
      }
      let killed = 0
      for (let n = 0; killed < kills; n++) {
        const it = Recorded.make({ room, service }, `${keys} ${i} job ${n}`)
        const { seen, took } = undisturbed[n % ways.length]!
        for (const [at, command] of ways[n % ways.length]!.entries()) {
          const { came, times } = await persist(it, command, took[at]!, kills - killed)
          killed += times
          assert.deepStrictEqual(came, seen[at], `job ${n}: ${command[0]}, killed ${times} times`)
        }
        assert.strictEqual(it.book.posts.filter(({ repeated }) => !repeated).length, it.book.tasks.size)
        const checked = await command(it.job, ["ledger", "check"])
        assert.strictEqual(checked.status, 0, checked.stdout + checked.stderr)
      }
      await service.close()
    })
  }
})
