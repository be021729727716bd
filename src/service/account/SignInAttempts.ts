/**
 * Slows down the guessing of passwords. Each address, and each pair of address and name, has a counter. A counter
 * allows `burst` attempts without a delay. Further attempts wait, and continue one by one, every `turnMillis`. An
 * attempt that would wait longer than 40 seconds is refused. Attempts from one address never delay other addresses. A
 * restart forgets all attempts.
 */
import { Clock, Effect, Schema } from "effect"
import * as Sha256 from "../../node/Sha256.ts"

export class AttemptsExceeded extends Schema.TaggedError<AttemptsExceeded>()("AttemptsExceeded", {
  retryAfterSeconds: Schema.Int,
}) {}

interface Pace {
  readonly burst: number
  readonly restoreMillis: number
  readonly turnMillis: number
}

const atName: Pace = { burst: 10, restoreMillis: 90_000, turnMillis: 10_000 }
const fromAddress: Pace = { burst: 60, restoreMillis: 1_000, turnMillis: 1_000 }
const maxWaitMillis = 40_000
const maxCounters = 10_000
const logEveryMillis = 15 * 60_000

interface Counter {
  /** Number of recent attempts that were not delayed, at most `burst`. It falls by 1 per `restoreMillis`. */
  used: number
  countedAt: number
  nextTurn: number
  loggedAt: number
}

const makeCounters = ({ burst, restoreMillis, turnMillis }: Pace) => {
  const counters = new Map<string, Counter>()

  const counterOf = (key: string, now: number) => {
    const counter = counters.get(key) ?? { used: 0, countedAt: now, nextTurn: 0, loggedAt: -Infinity }
    counters.delete(key)
    counters.set(key, counter)
    for (const oldest of counters.keys()) {
      if (counters.size <= maxCounters) break
      counters.delete(oldest)
    }
    counter.used = Math.max(0, counter.used - (now - counter.countedAt) / restoreMillis)
    counter.countedAt = now
    return counter
  }

  const count = Effect.fnUntraced(function* (key: string, description: string) {
    const now = yield* Clock.currentTimeMillis
    const counter = counterOf(key, now)
    if (counter.used <= burst - 1) {
      counter.used++
      return { wait: 0, giveBack: () => void counter.used-- }
    }
    if (now - counter.loggedAt >= logEveryMillis) {
      counter.loggedAt = now
      yield* Effect.logWarning(`${description}: ${burst} sign-in attempts failed; further attempts are delayed`)
    }
    const turn = Math.max(now, counter.nextTurn)
    const wait = turn - now
    if (wait > maxWaitMillis) {
      return yield* new AttemptsExceeded({ retryAfterSeconds: Math.ceil((wait - maxWaitMillis) / 1000) })
    }
    counter.nextTurn = turn + turnMillis
    return { wait, giveBack: () => {} }
  })

  return count
}

export const make = () => {
  const countName = makeCounters(atName)
  const countAddress = makeCounters(fromAddress)

  /** Counts an attempt and delays it. After a successful sign-in, run the returned effect, which undoes the count. */
  return Effect.fnUntraced(function* (address: string, name: string) {
    const ofAddress = yield* countAddress(address, address)
    const key = `${address} ${Sha256.hex(name)}`
    const ofName = yield* countName(key, `${address}, ${JSON.stringify(name.slice(0, 100))}`)
    yield* Effect.sleep(Math.max(ofAddress.wait, ofName.wait))
    return Effect.sync(() => {
      ofAddress.giveBack()
      ofName.giveBack()
    })
  })
}
