/**
 * A process that receives webhooks is killed (SIGKILL) at each commit point of receiving. Polling
 * would look at a task in hours only, so a hint that is lost is a result that does not come: what
 * was recorded is not sent again, what was not recorded is.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { secret } from "../support/webhooks.ts"
import * as Input from "./support/input.ts"
import { finish, type Job, killedAt, rows, type Trace, watched } from "./support/Job.ts"
import { momentsOf, points, pointsIn, type Story, unexpected } from "./support/points.ts"
import * as Recorded from "./support/Recorded.ts"
import * as RecordingService from "./support/RecordingService.ts"
import * as Room from "./support/Room.ts"
import * as Sender from "./support/Sender.ts"

const room = Room.make()
const service = await RecordingService.start("honored")
afterAll(async () => {
  await service.close()
  room.remove()
})

const input = Input.write(`${room.folder}/input.jsonl`, { misfits: true })
const submit = [input, "--batch-size", "6", "--idempotency-key", "honored"]
// One request at a time, so that one delivery at most is under way.
const seldom = ["--concurrency", "1", "--requests-per-second", "1000", "--poll-min", "5h", "--poll-max", "10h"]

const listening = (name: string, like?: Job) => {
  const it = Recorded.make({ room, service }, name, {
    env: { PREFSTREAM_WEBHOOK_SECRET: secret },
    ...(like && { like }),
  })
  it.book.judgesAtOnce = true
  const isRecorded = (id: string) =>
    rows(it.job, "SELECT delivery_id FROM delivery").some(({ delivery_id }) => delivery_id === id)
  return { ...it, sender: Sender.make(isRecorded) }
}

const play = (story: Story, args: ReadonlyArray<string>, prepared: (name: string) => ReturnType<typeof listening>) => {
  let trace: Trace
  let undisturbed: unknown
  beforeAll(async () => {
    const it = prepared(`${story} undisturbed`)
    const report = await watched(it.job, args, it.sender.to)
    trace = report.trace
    undisturbed = Recorded.seen(it, report)
  })

  it("makes no write without a name", () => assert.deepStrictEqual(unexpected(trace), []))

  for (const event of pointsIn(story)) {
    it(`${points[event].name}: no result is lost`, () =>
      room.inTurn(async () => {
        const it = prepared(`${story} ${event}`)
        for (const moment of momentsOf(event, trace)) {
          await killedAt(it.job, args, moment, it.sender.to)
        }
        assert.deepStrictEqual(Recorded.seen(it, await finish(it.job, args, it.sender.to)), undisturbed)
      }))
  }
}

const options = { concurrent: true, timeout: 300_000 }

describe("collect --listen", options, () => {
  let submitted: ReturnType<typeof listening>
  beforeAll(async () => {
    submitted = listening("listen before")
    await finish(submitted.job, ["submit", ...submit, ...seldom])
  })
  play("listen", ["collect", "--listen", "0", ...seldom], (name) => {
    const it = listening(name, submitted.job)
    const deliverAll = async () => {
      for (const id of it.book.tasks.keys()) await it.sender.deliver([id])
    }
    void deliverAll()
    return it
  })
})

describe("run --listen, whose deliveries overtake the answers to the creation of their tasks", options, () => {
  play("overtaken", ["run", ...submit, "--listen", "0", ...seldom], (name) => {
    const it = listening(name)
    it.book.afterTaking = (id) => it.sender.deliver([id])
    return it
  })
})
