import { assert, describe, it } from "@effect/vitest"
import * as annotation from "../../../../src/service/pages/annotate/annotationStep.ts"
import {
  type Ask,
  type Command,
  type AnnotationState,
  type Event,
  type Sent,
  initial,
} from "../../../../src/service/pages/annotate/annotationState.ts"
import * as entries from "../../../../src/service/pages/annotate/entry.ts"
import type { Draft, Work } from "../../../../src/service/pageApi/AnnotateApi.ts"
import { item, progress, work } from "./support.ts"

/** Method, path, and body of a request. */
const sentOf = ({ input, request }: Sent) => {
  const { params, payload } = { params: { item_id: 0 }, payload: undefined as unknown, ...input }
  const [method, path] = request.replace(":item_id", String(params.item_id)).split(" ")
  return [method, path, ...(payload === undefined ? [] : [payload])]
}

/** The state machine with a clock, and with the commands since they were last taken. */
class Driver {
  state: AnnotationState
  now = 1_000_000
  commands: ReadonlyArray<Command> = []

  constructor() {
    this.state = initial(this.now, true)
  }

  do(event: Event): this {
    const [next, commands] = annotation.step(this.state, event, this.now)
    this.state = next
    this.commands = commands
    return this
  }

  after(millis: number, event: Event): this {
    this.now += millis
    return this.do(event)
  }

  get asks() {
    return this.commands.flatMap((command) => (command._tag === "ask" ? [sentOf(command.sent)] : []))
  }

  timer(name: string) {
    return this.commands.flatMap((each) => (each._tag === "timer" && each.timer === name ? [each.after] : [])).at(-1)
  }

  has(command: Command) {
    return this.commands.some((each) => JSON.stringify(each) === JSON.stringify(command))
  }

  /** Signed in, with the item held. */
  static with(held: Work, copy: Draft | null = null): Driver {
    return new Driver()
      .do({ _tag: "start", code: null, mode: "best" })
      .do({ _tag: "session", name: "Ada", progress: held.progress })
      .do({ _tag: "answer", ask: "next", work: held, copy })
  }

  static holding(id: number, judged = 0): Driver {
    return Driver.with(work(item(id), judged))
  }

  /** On its way out with the first completion chosen. */
  static submitted(id: number, judged = 0): Driver {
    return Driver.holding(id, judged).choose(0).submit()
  }

  edit(change: (entry: entries.Entry) => entries.Entry, itemId = this.state.item?.item_id ?? 0): this {
    return this.do({ _tag: "edit", itemId, change })
  }

  choose(place: number): this {
    return this.edit((entry) => entries.choose(entry, place))
  }

  write(rationale: string): this {
    return this.edit((entry) => ({ ...entry, rationale }))
  }

  submit(): this {
    return this.do({ _tag: "want", wanted: { _tag: "submit" } })
  }

  fail(ask: Ask, status: number, detail = "d"): this {
    return this.do({ _tag: "failure", ask, failure: { status, detail, retryAfter: null } })
  }
}

const unreached = 0

describe("annotation: coming in", () => {
  it("goes on with the session there is when the invitation is used up", () => {
    const driver = new Driver().do({ _tag: "start", code: "old", mode: "best" }).fail("join", 403)
    assert.deepStrictEqual(driver.asks, [["GET", "/session"]])
    driver.do({ _tag: "session", name: "Ada", progress: progress(3) })
    assert.strictEqual(driver.state.phase, "working")
  })

  it("says that the invitation can't be used where there is no session", () => {
    const driver = new Driver().do({ _tag: "start", code: "old", mode: "best" }).fail("join", 403).fail("session", 401)
    assert.deepStrictEqual([driver.state.phase, driver.state.signedOut], ["signedOut", "invitation"])
    const other = new Driver().do({ _tag: "start", code: null, mode: "best" }).fail("session", 401)
    assert.strictEqual(other.state.signedOut, "never")
  })

  it("tries the invitation again when the service can't be reached", () => {
    const driver = new Driver().do({ _tag: "start", code: "abc", mode: "best" }).fail("join", unreached)
    assert.isNumber(driver.timer("retry"))
    assert.deepStrictEqual(driver.do({ _tag: "timer", timer: "retry" }).asks, [["POST", "/join", { code: "abc" }]])
    assert.deepStrictEqual(driver.do({ _tag: "joined" }).asks, [["GET", "/session"]])
  })
})

describe("annotation: judging", () => {
  it("says that a change of the guidelines was seen, keeps the item, and submits under the version shown", () => {
    const changed = item(1, 2, { guidelines_version: 3, guidelines_change: { from: 1, before: "old" } })
    const driver = Driver.with(work(changed))
    assert.deepStrictEqual(driver.do({ _tag: "want", wanted: { _tag: "guidelines" } }).asks, [
      ["POST", "/items/1/guidelines", { version: 3 }],
    ])
    driver.do({ _tag: "answer", ask: "guidelines", work: work({ ...changed, guidelines_change: null }), copy: null })
    assert.isNull(driver.state.item?.guidelines_change)
    assert.deepStrictEqual(driver.choose(0).submit().asks, [
      ["POST", "/items/1/vote", { best: 0, ranking: null, rationale: "", seconds: 0, guidelines_version: 3 }],
    ])
  })

  it("sends nothing that is incomplete, and nothing twice", () => {
    const driver = Driver.holding(1).submit()
    assert.deepStrictEqual(driver.asks, [])
    assert.strictEqual(driver.state.notice?.text, "Choose the best completion first.")
    driver.choose(0).submit()
    assert.deepStrictEqual(driver.submit().asks, [])
    assert.deepStrictEqual(driver.do({ _tag: "want", wanted: { _tag: "skip", reason: "r" } }).asks, [])
  })

  it("takes no change for another item, or for one on its way out", () => {
    const driver = Driver.holding(2)
    const before = driver.state
    driver.edit((entry) => ({ ...entry, best: 1 }), 1)
    assert.strictEqual(driver.state, before)
    driver.choose(0).submit().write("too late")
    assert.strictEqual(driver.state.entry?.rationale, "")
  })

  it("skips and flags with the reason", () => {
    const flag = { kind: "bad_completions", comment: "broken" } as const
    const driver = Driver.holding(1).do({ _tag: "want", wanted: { _tag: "flag", flag } })
    assert.deepStrictEqual(driver.asks, [["POST", "/items/1/flag", flag]])
    driver.do({ _tag: "answer", ask: "flag", work: work(item(2)), copy: null })
    driver.do({ _tag: "want", wanted: { _tag: "skip", reason: "" } })
    assert.deepStrictEqual(driver.asks, [["POST", "/items/2/skip", { reason: "" }]])
  })

  it("says so where there is nothing to take back", () => {
    const driver = Driver.holding(1, 0).do({ _tag: "want", wanted: { _tag: "undo" } })
    assert.deepStrictEqual(driver.asks, [])
    assert.strictEqual(driver.state.notice?.text, "There is nothing to take back.")
    const late = Driver.holding(2, 1).do({ _tag: "want", wanted: { _tag: "undo" } })
    late.fail("undo", 409, "Its task is complete.")
    assert.deepStrictEqual([late.state.notice?.text, late.state.progress?.undoable], ["Its task is complete.", false])
    assert.strictEqual(late.state.item?.item_id, 2)
  })
})

describe("annotation: drafts", () => {
  it("keeps each change on the device at once, and saves when the changes pause", () => {
    const driver = Driver.holding(1).write("a")
    assert.isTrue(driver.commands.some((each) => each._tag === "keep" && each.draft.rationale === "a"))
    assert.strictEqual(driver.timer("save"), annotation.saveDelayMillis)
    driver.after(annotation.saveDelayMillis, { _tag: "timer", timer: "save" })
    assert.deepStrictEqual(driver.asks, [
      ["PUT", "/items/1/draft", { mode: "best", best: null, ranking: [], rationale: "a", seconds: 0.8 }],
    ])
    assert.isTrue(driver.do({ _tag: "saved" }).has({ _tag: "forget", itemId: 1 }))
    assert.isFalse(annotation.isUnsaved(driver.state))
  })

  it("saves within five seconds of writing without a pause", () => {
    const driver = Driver.holding(1).write("a")
    driver.now += 4_700
    assert.strictEqual(driver.write("ab").timer("save"), 300)
    driver.now += 1_000
    assert.strictEqual(driver.write("abc").timer("save"), 0)
  })

  it("keeps the copy of what was written while an older draft was saved", () => {
    const driver = Driver.holding(1).write("a").do({ _tag: "timer", timer: "save" }).write("ab")
    driver.do({ _tag: "saved" })
    assert.isFalse(driver.has({ _tag: "forget", itemId: 1 }))
    assert.isTrue(annotation.isUnsaved(driver.state))
    driver.do({ _tag: "timer", timer: "save" })
    assert.deepInclude(driver.asks[0]?.[2], { rationale: "ab" })
  })

  it("prefers what the device kept to the draft of the service, and saves it", () => {
    const served = { mode: "best", best: 0, ranking: [], rationale: "served", seconds: 5 } as const
    const copy = { ...served, best: 1, rationale: "kept", seconds: 8 } as const
    const driver = Driver.with(work(item(1, 2, { draft: served })), copy)
    assert.deepStrictEqual([driver.state.entry?.best, driver.state.entry?.rationale], [1, "kept"])
    assert.isNumber(driver.timer("save"))
    driver.do({ _tag: "timer", timer: "save" })
    assert.deepStrictEqual(driver.asks, [["PUT", "/items/1/draft", copy]])
  })

  it("saves before the page is hidden or left, to outlive it", () => {
    for (const event of [{ _tag: "visible", visible: false }, { _tag: "leave" }] satisfies ReadonlyArray<Event>) {
      const driver = Driver.holding(1).write("a").do(event)
      assert.deepStrictEqual(driver.asks[0]?.slice(0, 2), ["PUT", "/items/1/draft"])
      assert.isTrue(driver.commands.some((each) => each._tag === "ask" && each.leaving))
      assert.deepStrictEqual(Driver.holding(1).do(event).asks, [])
    }
  })

  it("waits with the judgment for a draft that is on its way", () => {
    const driver = Driver.holding(1).choose(0).do({ _tag: "timer", timer: "save" }).submit()
    assert.deepStrictEqual(driver.asks, [])
    assert.deepStrictEqual(driver.do({ _tag: "saved" }).asks[0]?.slice(0, 2), ["POST", "/items/1/vote"])
  })
})

describe("annotation: the hold", () => {
  it("is renewed while the expert is there, and not afterwards", () => {
    const driver = Driver.holding(1)
    assert.strictEqual(driver.timer("hold"), 120_000)
    driver.after(120_000, { _tag: "timer", timer: "hold" })
    assert.deepStrictEqual(driver.asks[0]?.slice(0, 2), ["PUT", "/items/1/draft"])
    assert.strictEqual(driver.timer("hold"), 120_000)
    driver.do({ _tag: "saved" }).after(annotation.awayAfterMillis, { _tag: "timer", timer: "hold" })
    assert.deepStrictEqual(driver.asks, [])
    assert.deepStrictEqual(driver.after(1_000, { _tag: "activity" }).asks[0]?.slice(0, 2), ["PUT", "/items/1/draft"])
  })

  it("is renewed more often where it is short, whatever the device's clock says", () => {
    assert.strictEqual(Driver.with(work(item(1, 2, { held_until: 1_000_000 + 90_000 }))).timer("hold"), 30_000)
    assert.strictEqual(Driver.with(work(item(1, 2, { held_until: 0 }))).timer("hold"), 20_000)
  })

  it("is isLoaded after when the page comes to the front again", () => {
    const driver = Driver.holding(1).do({ _tag: "visible", visible: false })
    driver.after(600_000, { _tag: "visible", visible: true })
    assert.deepStrictEqual(driver.asks[0]?.slice(0, 2), ["PUT", "/items/1/draft"])
  })

  it("lost: what was entered is shown, and the next item comes", () => {
    const driver = Driver.holding(1).choose(1).write("my words").submit().fail("submit", 409)
    assert.deepStrictEqual(driver.asks, [["POST", "/next"]])
    driver.do({ _tag: "answer", ask: "next", work: work(item(2)), copy: null })
    assert.strictEqual(driver.state.item?.item_id, 2)
    assert.deepStrictEqual(driver.state.lost, { prompt: "prompt 1", choice: "2", rationale: "my words" })
    assert.strictEqual(driver.state.notice?.tone, "warn")
    assert.isNull(driver.do({ _tag: "putAway" }).state.lost)
  })

  it("lost and found again: what was entered stays", () => {
    const driver = Driver.holding(1).choose(1).write("my words").submit().fail("submit", 409)
    driver.do({ _tag: "answer", ask: "next", work: work(item(1)), copy: null })
    assert.deepStrictEqual([driver.state.entry?.best, driver.state.entry?.rationale], [1, "my words"])
    assert.isNull(driver.state.lost)
    assert.deepStrictEqual(driver.asks[0]?.slice(0, 2), ["PUT", "/items/1/draft"])
  })
})

describe("annotation: without a connection", () => {
  it("tries again after longer and longer pauses, with what is entered by then", () => {
    const driver = Driver.submitted(1).fail("submit", unreached, "Not reached.")
    assert.strictEqual(driver.state.trouble?.words, "Not reached.")
    assert.strictEqual(driver.timer("retry"), 2_000)
    assert.deepStrictEqual(driver.write("later").asks, [])
    assert.deepStrictEqual(driver.do({ _tag: "timer", timer: "save" }).asks, [])
    assert.deepInclude(driver.do({ _tag: "timer", timer: "retry" }).asks[0]?.[2], { rationale: "later" })
    const pauses = [503, 500, 503, 429, 502].map((status) => {
      const pause = driver.fail("submit", status).timer("retry")
      driver.do({ _tag: "timer", timer: "retry" })
      return pause
    })
    assert.deepStrictEqual(pauses, [4_000, 8_000, 16_000, 30_000, 30_000])
    driver.do({ _tag: "answer", ask: "submit", work: work(item(2), 1), copy: null })
    assert.deepStrictEqual([driver.state.trouble, driver.state.item?.item_id], [null, 2])
  })

  it("waits as long as the service says", () => {
    const driver = Driver.submitted(1)
    driver.do({ _tag: "failure", ask: "submit", failure: { status: 429, detail: "d", retryAfter: 42 } })
    assert.strictEqual(driver.timer("retry"), 42_000)
  })

  for (const [what, unreachedFirst, judged, tone, text, choice] of [
    ["not reported as lost where it had arrived", true, 6, "good", /./, undefined],
    ["reported as lost where it had not arrived", true, 5, "warn", /./, "1"],
    ["reported as lost where another tab gave one", false, 6, "warn", /earlier judgment counts/, "1"],
  ] as const) {
    it(`a judgment that is refused is ${what}`, () => {
      const driver = Driver.submitted(1, 5)
      if (unreachedFirst) driver.fail("submit", unreached).do({ _tag: "timer", timer: "retry" })
      driver.fail("submit", 409)
      assert.deepStrictEqual(driver.asks, [["POST", "/next"]])
      driver.do({ _tag: "answer", ask: "next", work: work(item(2), judged), copy: null })
      assert.strictEqual(driver.state.notice?.tone, tone)
      assert.match(driver.state.notice?.text ?? "", text)
      assert.strictEqual(driver.state.lost?.choice, choice)
      if (choice === undefined) assert.isTrue(driver.has({ _tag: "forget", itemId: 1 }))
    })
  }

  it("never undoes twice: it asks what there is instead", () => {
    const driver = Driver.holding(2, 1)
      .do({ _tag: "want", wanted: { _tag: "undo" } })
      .fail("undo", unreached)
    assert.deepStrictEqual(driver.do({ _tag: "timer", timer: "retry" }).asks, [["POST", "/next"]])
    const limited = Driver.holding(2, 1)
      .do({ _tag: "want", wanted: { _tag: "undo" } })
      .fail("undo", 429)
    assert.deepStrictEqual(limited.do({ _tag: "timer", timer: "retry" }).asks, [["POST", "/undo"]])
  })

  it("keeps a draft that could not be saved, and saves it later", () => {
    const driver = Driver.holding(1).write("a").do({ _tag: "timer", timer: "save" }).fail("save", 503)
    assert.isTrue(annotation.isUnsaved(driver.state))
    assert.deepStrictEqual(driver.do({ _tag: "retry" }).asks[0]?.slice(0, 2), ["PUT", "/items/1/draft"])
  })

  it("says what the service refuses, and does not try again", () => {
    const driver = Driver.submitted(1).fail("submit", 400, "Too long.")
    assert.deepStrictEqual(driver.state.notice, { tone: "bad", text: "Too long." })
    assert.deepStrictEqual([driver.asks, annotation.isBusy(driver.state), driver.state.trouble], [[], false, null])
  })
})

describe("annotation: nothing left, and leaving", () => {
  it("looks again every 15 seconds, while the page is visible", () => {
    const driver = Driver.with(work(null, 4))
    assert.isTrue(driver.state.isLoaded)
    assert.strictEqual(driver.timer("poll"), annotation.pollIntervalMillis)
    assert.deepStrictEqual(driver.do({ _tag: "timer", timer: "poll" }).asks, [["POST", "/next"]])
    driver.do({ _tag: "answer", ask: "next", work: work(null, 4), copy: null })
    assert.strictEqual(driver.timer("poll"), annotation.pollIntervalMillis)
    driver.do({ _tag: "visible", visible: false })
    assert.deepStrictEqual(driver.do({ _tag: "timer", timer: "poll" }).asks, [])
    assert.deepStrictEqual(driver.do({ _tag: "visible", visible: true }).asks, [["POST", "/next"]])
    driver.do({ _tag: "answer", ask: "next", work: work(item(5), 4), copy: null })
    assert.deepStrictEqual([driver.state.item?.item_id, driver.timer("poll")], [5, null])
  })

  it("keeps what was entered on the device when the session ends", () => {
    const driver = Driver.submitted(1).fail("submit", 401)
    assert.deepStrictEqual(
      [driver.state.phase, driver.state.signedOut, driver.state.item],
      ["signedOut", "ended", null],
    )
    assert.isFalse(driver.commands.some(({ _tag }) => _tag === "forget" || _tag === "forgetAll"))
    assert.deepStrictEqual([driver.timer("save"), driver.timer("hold"), driver.timer("retry")], [null, null, null])
  })

  it("signs out after saving, and leaves nothing on the device", () => {
    const driver = Driver.holding(1)
      .write("a")
      .do({ _tag: "want", wanted: { _tag: "signOut" } })
    assert.deepStrictEqual(driver.asks[0]?.slice(0, 2), ["PUT", "/items/1/draft"])
    assert.deepStrictEqual(driver.do({ _tag: "saved" }).asks, [["POST", "/sign-out"]])
    assert.isTrue(driver.do({ _tag: "signedOut" }).has({ _tag: "forgetAll" }))
    assert.strictEqual(driver.state.signedOut, "left")
  })
})

describe("annotation: correcting a judgment", () => {
  const given = item(1, 2, {
    corrects: 1_000,
    draft: { mode: "best", best: 0, ranking: [], rationale: "", seconds: 3 },
  })
  /** The second item is held, and the first one's judgment is opened. */
  const opened = () =>
    Driver.holding(2, 1)
      .do({ _tag: "want", wanted: { _tag: "correct", itemId: 1 } })
      .do({ _tag: "answer", ask: "correct", work: work(given, 1), copy: null })

  it("sends nothing but the correction, and then has the item at hand again", () => {
    const driver = opened().choose(1)
    assert.isFalse(annotation.isUnsaved(driver.state))
    assert.deepStrictEqual(driver.after(9_000, { _tag: "timer", timer: "save" }).asks, [])
    assert.deepStrictEqual(driver.after(9_000, { _tag: "timer", timer: "hold" }).asks, [])
    assert.deepStrictEqual(driver.do({ _tag: "visible", visible: false }).asks, [])
    driver.do({ _tag: "visible", visible: true }).submit()
    assert.deepStrictEqual(driver.asks[0]?.slice(0, 2), ["PUT", "/judgments/1"])
    driver.do({ _tag: "answer", ask: "submit", work: work(item(2), 1), copy: null })
    assert.isTrue(driver.has({ _tag: "forget", itemId: 1 }))
    assert.deepStrictEqual(
      [driver.state.item?.item_id, driver.state.notice?.text],
      [2, "Corrected. Item 2 of 10 is next."],
    )
  })

  it("keeps the changes on this device when it is left, says so, and has them when it is opened again", () => {
    const other = item(3, 2, { corrects: 1_000, draft: given.draft })
    const leaves = [
      { ask: "next", wanted: { _tag: "next" }, next: item(2) },
      { ask: "correct", wanted: { _tag: "correct", itemId: 3 }, next: other },
    ] as const
    for (const { ask, next, wanted } of leaves) {
      const driver = opened().choose(1).do({ _tag: "want", wanted })
      assert.lengthOf(driver.asks, 1)
      driver.do({ _tag: "answer", ask, work: work(next, 1), copy: null })
      assert.isFalse(driver.has({ _tag: "forget", itemId: 1 }))
      assert.include(driver.state.notice?.text, "Your correction was not submitted. It is kept on this device")
    }
    const copy = { ...given.draft!, best: 1 }
    const again = Driver.holding(2, 1)
      .do({ _tag: "want", wanted: { _tag: "correct", itemId: 1 } })
      .do({ _tag: "answer", ask: "correct", work: work(given, 1), copy })
    assert.strictEqual(again.state.entry?.best, 1)
    assert.include(again.state.notice?.text, "Your earlier, unsubmitted correction is restored.")
    const untouched = opened()
      .do({ _tag: "want", wanted: { _tag: "next" } })
      .do({ _tag: "answer", ask: "next", work: work(item(2), 1), copy: null })
    assert.isNull(untouched.state.notice)
  })

  it("keeps the item at hand when the judgment can't be opened, and what was written when it can't be changed", () => {
    const refused = Driver.holding(2, 1)
      .do({ _tag: "want", wanted: { _tag: "correct", itemId: 1 } })
      .fail("correct", 409, "Completed.")
    assert.deepStrictEqual([refused.state.item?.item_id, refused.state.notice?.text], [2, "Completed."])
    const late = opened().write("Better.").submit().fail("submit", 409, "Completed.")
    assert.deepStrictEqual([late.state.lost?.rationale, late.state.notice?.text], ["Better.", "Completed."])
    assert.deepStrictEqual(late.asks, [["POST", "/next"]])
  })
})
