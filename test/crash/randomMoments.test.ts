/**
 * `run` is killed (SIGKILL) at 100 random moments, several times on the same job, and the same
 * command is run again until the job is through: it comes to what the undisturbed job comes to.
 *
 * The moments are drawn over the time that the undisturbed job takes, from a seed that is printed;
 * `CRASH_SEED` sets it. They decide when a process dies, and nothing of what is asserted.
 */
import { randomInt } from "node:crypto"
import { afterAll, assert, describe, it } from "vitest"
import * as Doubts from "./support/Doubts.ts"
import * as Input from "./support/input.ts"
import { killedAfter, watched } from "./support/Job.ts"
import * as Recorded from "./support/Recorded.ts"
import * as RecordingService from "./support/RecordingService.ts"
import * as Room from "./support/Room.ts"

const kills = 50
const seed = Number(process.env["CRASH_SEED"] ?? randomInt(2 ** 31))

const room = await Room.make()
afterAll(room.remove)

const input = Input.write(`${room.folder}/input.jsonl`, { misfits: true })

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

describe(`${2 * kills} random moments, CRASH_SEED=${seed}`, { concurrent: true, timeout: 600_000 }, () => {
  for (const [i, keys] of (["honoured", "ignored"] as const).entries()) {
    it(`${kills} of them with a service by which keys are ${keys}`, async () => {
      const service = await RecordingService.start(keys)
      const random = draws(seed + i)
      const args = ["run", input, "--batch-size", "6", "--idempotency-key", keys, "--concurrency", "2", "--requests-per-second", "1000", "--poll-min", "20ms", "--poll-max", "50ms"] // prettier-ignore

      const recorded = (name: string) => Recorded.make({ room, service }, `${keys} ${name}`)

      const first = recorded("undisturbed")
      const { trace, ...report } = await watched(first.job, args)
      const undisturbed = Recorded.seen(first, report)

      let killed = 0
      for (let n = 1; killed < kills; n++) {
        const it = recorded(`job ${n}`)
        for (;;) {
          const report = await killedAfter(it.job, args, killed < kills ? random() * trace.took : 600_000)
          if (report === undefined) killed++
          else if ((await Doubts.settle(it)) === 0) {
            assert.strictEqual(it.book.posts.filter(({ repeated }) => !repeated).length, it.book.tasks.size)
            assert.deepStrictEqual(Recorded.seen(it, report), undisturbed, `job ${n}, after ${killed} kills`)
            break
          }
        }
      }
      await service.close()
    })
  }
})
