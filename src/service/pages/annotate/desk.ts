/**
 * The state machine of the annotation page: current item, entries, and requests, as a pure step from state and event to
 * state and commands; `useDesk` runs the commands.
 *
 * Guarantees: one request at a time, so a draft never overtakes its submission; entries stay on this device until the
 * service has them; a judgment whose response was lost is not reported as failed, and undo is never sent twice; the
 * hold is renewed only while the expert is active.
 */
/* oxlint-disable max-lines -- one state machine, whose transitions share their helpers */
import type { Draft, HeldItem, Work } from "../../pageApi/AnnotateApi.ts"
import * as attention from "./attention.ts"
import {
  type Ask,
  type Command,
  type Desk,
  type Event,
  type Failure,
  initial,
  type Notice,
  type SignedOut,
  type Timer,
  type Wanted,
} from "./deskState.ts"
import * as entries from "./entry.ts"

/** A draft is saved this long after the last change, and at the latest this long after the first. */
export const saveDelayMillis = 800
export const maxSaveDelayMillis = 5_000
/** How often to look whether there is something new. */
export const pollIntervalMillis = 15_000
/** The expert is taken to need the item for this long after the last sign. */
export const awayAfterMillis = 300_000

type Step = readonly [Desk, ReadonlyArray<Command>]

export const step = (desk: Desk, event: Event, now: number): Step => {
  switch (event._tag) {
    case "start":
      return enter({ ...initial(now, desk.visible), mode: event.mode, code: event.code })
    case "joined":
      return enter({ ...desk, code: null })
    case "session":
      return send(
        {
          ...desk,
          phase: "working",
          name: event.name,
          progress: event.progress,
          underway: null,
          wanted: { _tag: "next" },
          trouble: null,
        },
        now,
      )
    case "answer":
      return answered(desk, event, now)
    case "saved":
      return saved(desk, now)
    case "signedOut":
      return signedOut(desk, "left", now, [{ _tag: "forgetAll" }])
    case "failure":
      return failed(desk, event.ask, event.failure, now)
    case "edit":
      return edited(desk, event, now)
    case "want":
      return wanted(desk, event.wanted, now)
    case "timer":
      return rang(desk, event.timer, now)
    case "visible":
      return shown(desk, event.visible, now)
    case "leave":
      return send({ ...desk, saveDue: desk.saveDue || isUnsaved(desk) }, now, true)
    case "sign": {
      const back = desk.item !== null && desk.visible && !attention.isThere(desk.attention, now, awayAfterMillis)
      const next = { ...desk, attention: attention.sign(desk.attention, now) }
      return back ? send({ ...next, saveDue: true }, now) : [next, []]
    }
    case "retry":
      return rang(desk, "retry", now)
    case "putAway":
      return [{ ...desk, lost: null }, []]
    case "say":
      return [{ ...desk, notice: event.notice }, []]
  }
}

export const isUnsaved = (desk: Desk): boolean => desk.item !== null && desk.revision > desk.saved

/** Whether a judgment or the like is on its way, or waits for a connection. */
export const isBusy = (desk: Desk): boolean => desk.wanted !== null

/** Whether the item is on its way out, so that changes would come too late. */
const isLeaving = ({ underway }: Desk): boolean =>
  underway?.ask === "submit" || underway?.ask === "skip" || underway?.ask === "flag"

/** Uses the invitation where there is one, and asks who is signed in. */
const enter = (desk: Desk): Step => {
  const ask: Command =
    desk.code === null
      ? { _tag: "ask", ask: "session", method: "GET", path: "/session", leaving: false }
      : { _tag: "ask", ask: "join", method: "POST", path: "/join", body: { code: desk.code }, leaving: false }
  return [{ ...desk, underway: { ask: ask.ask, revision: 0 } }, [ask]]
}

/** Sends what is due next, unless a request is under way or its time has not come. */
const send = (desk: Desk, now: number, leaving = !desk.visible): Step => {
  if (desk.underway !== null || desk.phase !== "working") return [desk, []]
  if (desk.trouble?.waiting === true && !leaving) return [desk, []]
  const { item, entry, wanted } = desk
  const seconds = attention.seconds(desk.attention, now)
  const post = (ask: Ask, path: string, body?: unknown): Step => [
    { ...desk, underway: { ask, revision: desk.revision } },
    [{ _tag: "ask", ask, method: "POST", path, ...(body === undefined ? {} : { body }), leaving }],
  ]
  if (item !== null && entry !== null) {
    const path = `/items/${item.item_id}`
    const first = (wanted?._tag === "undo" || wanted?._tag === "signOut") && isUnsaved(desk)
    if (first || (wanted === null && desk.saveDue)) {
      return [
        { ...desk, saveDue: false, lastSave: now, underway: { ask: "save", revision: desk.revision } },
        [
          {
            _tag: "ask",
            ask: "save",
            method: "PUT",
            path: `${path}/draft`,
            body: entries.toDraft(entry, seconds),
            leaving,
          },
          { _tag: "timer", timer: "save", after: null },
        ],
      ]
    }
    if (wanted?._tag === "submit") {
      const body = entries.submission(entry, seconds)
      // Changed while the submission waited for a connection.
      if (body === null) return [{ ...desk, wanted: null, notice: lacking(entry) }, []]
      return post("submit", `${path}/vote`, body)
    }
    if (wanted?._tag === "skip") return post("skip", `${path}/skip`, { reason: wanted.reason })
    if (wanted?._tag === "flag") return post("flag", `${path}/flag`, wanted.flag)
  }
  if (wanted?._tag === "next" || wanted?._tag === "undo") return post(wanted._tag, `/${wanted._tag}`)
  if (wanted?._tag === "signOut") return post("signOut", "/sign-out")
  return [wanted === null ? desk : { ...desk, wanted: null }, []]
}

const lacking = (entry: entries.Entry): Notice => ({ tone: "warn", text: entries.missing(entry) ?? "" })

const wanted = (desk: Desk, wanted: Wanted, now: number): Step => {
  const waits = desk.underway === null && wanted._tag === "signOut"
  if (desk.phase !== "working" || (desk.wanted !== null && !waits)) return [desk, []]
  if (wanted._tag === "undo" && desk.progress?.undoable !== true) {
    return [{ ...desk, notice: { tone: "plain", text: "There is nothing to take back." } }, []]
  }
  if (wanted._tag === "submit" && desk.entry !== null && entries.missing(desk.entry) !== null) {
    return [{ ...desk, notice: lacking(desk.entry) }, []]
  }
  return send({ ...desk, wanted, trouble: atOnce(desk.trouble), notice: null }, now)
}

const atOnce = (trouble: Desk["trouble"]) => (trouble === null ? null : { ...trouble, waiting: false })

const edited = (desk: Desk, { itemId, change }: Event & { _tag: "edit" }, now: number): Step => {
  if (desk.item?.item_id !== itemId || desk.entry === null || isLeaving(desk)) return [desk, []]
  const entry = change(desk.entry)
  const since = desk.unsavedSince ?? now
  return [
    {
      ...desk,
      entry,
      mode: entry.mode,
      revision: desk.revision + 1,
      unsavedSince: since,
      notice: desk.notice?.tone === "warn" ? null : desk.notice,
      attention: attention.sign(desk.attention, now),
    },
    [
      {
        _tag: "keep",
        itemId: desk.item.item_id,
        draft: entries.toDraft(entry, attention.seconds(desk.attention, now)),
      },
      { _tag: "timer", timer: "save", after: Math.max(0, Math.min(saveDelayMillis, since + maxSaveDelayMillis - now)) },
      ...(entry.mode === desk.mode ? [] : [{ _tag: "mode", mode: entry.mode } as const]),
    ],
  ]
}

const saved = (desk: Desk, now: number): Step => {
  const revision = desk.underway?.revision ?? desk.saved
  const next: Desk = {
    ...desk,
    underway: null,
    trouble: null,
    saved: Math.max(desk.saved, revision),
    unsavedSince: desk.revision > revision ? now : null,
  }
  const forget: ReadonlyArray<Command> =
    desk.item === null || isUnsaved(next) ? [] : [{ _tag: "forget", itemId: desk.item.item_id }]
  return also(send(next, now), [...forget, { _tag: "timer", timer: "retry", after: null }])
}

const answered = (desk: Desk, event: Event & { _tag: "answer" }, now: number): Step => {
  const { ask, work, copy } = event
  const done = ask === "submit" || ask === "skip" || ask === "flag"
  const arrived = desk.unsure !== null && ask === "next" && work.progress.judged > desk.unsure.judged
  const commands: Array<Command> = [{ _tag: "timer", timer: "retry", after: null }]
  const before = desk.item
  if (before !== null && (done || arrived)) commands.push({ _tag: "forget", itemId: before.item_id })
  const desked: Desk = {
    ...desk,
    underway: null,
    wanted: null,
    trouble: null,
    unsure: null,
    progress: work.progress,
    isLoaded: true,
    lost: arrived && desk.unsure?.broke ? null : desk.lost,
    notice: arrived ? hadArrived(desk.unsure?.broke ?? false) : noticeOf(ask, work, desk),
  }
  // Still the same item: what is entered stays, newer than what the service has.
  if (work.item !== null && before !== null && work.item.item_id === before.item_id && !done && ask !== "undo") {
    const again: Notice = { tone: "good", text: "The item had gone back to the queue, and is yours again." }
    const notice = desk.lost === null ? desked.notice : again
    const every = holdEvery(work.item, now)
    return also(
      send({ ...desked, item: work.item, holdEvery: every, lost: null, notice, saveDue: isUnsaved(desked) }, now),
      [...commands, { _tag: "timer", timer: "hold", after: every }],
    )
  }
  return laid(desked, work.item, copy, commands, now)
}

/** Without a connection that broke, the judgment that the service has may be another tab's. */
const hadArrived = (broke: boolean): Notice =>
  broke
    ? { tone: "good", text: "The service has your judgment of the item before: it had arrived." }
    : {
        tone: "warn",
        text: "The service had a judgment of yours on the item before, perhaps from another tab: that one counts.",
      }

/** Lays an item on the desk, or clears it. */
const laid = (
  desk: Desk,
  item: HeldItem | null,
  copy: Draft | null,
  commands: ReadonlyArray<Command>,
  now: number,
): Step => {
  const draft = copy ?? item?.draft ?? null
  const newer = copy !== null
  const every = item === null ? desk.holdEvery : holdEvery(item, now)
  return [
    {
      ...desk,
      item,
      entry: item === null ? null : entries.open(item, draft, desk.mode),
      attention: attention.start(draft?.seconds ?? 0, now, desk.visible),
      revision: newer ? 1 : 0,
      saved: 0,
      unsavedSince: newer ? now : null,
      saveDue: false,
      lastSave: now,
      holdEvery: every,
    },
    [
      ...commands,
      { _tag: "timer", timer: "save", after: newer ? saveDelayMillis : null },
      { _tag: "timer", timer: "look", after: item === null ? pollIntervalMillis : null },
      { _tag: "timer", timer: "hold", after: item === null ? null : every },
    ],
  ]
}

/** A third of the hold, and not more than two minutes; the device's clock may be wrong. */
const holdEvery = (item: HeldItem, now: number) => Math.min(Math.max((item.held_until - now) / 3, 20_000), 120_000)

const noticeOf = (ask: Ask, work: Work, desk: Desk): Notice | null => {
  const good = (text: string): Notice => ({ tone: "good", text })
  const then = work.item === null ? "" : ` Item ${work.item.task.number} of ${work.item.task.prompts} is next.`
  if (ask === "submit") return good(`Submitted.${then}`)
  if (ask === "skip") return good(`Skipped.${then}`)
  if (ask === "flag") return good(`Flagged: the operator will see it.${then}`)
  if (ask === "undo") return good("Taken back. Change what you like and submit it again.")
  if (desk.item !== null) return desk.notice
  return desk.isLoaded && desk.item === null && work.item !== null ? good("There is something new to judge.") : null
}

const failed = (desk: Desk, ask: Ask, failure: Failure, now: number): Step => {
  const rested = { ...desk, underway: null }
  if (ask === "join" && failure.status >= 400 && failure.status < 500 && failure.status !== 429) {
    // The link may have been opened again where it was used: then there is a session.
    return enter({ ...rested, code: null, signedOut: "invitation" })
  }
  if (failure.status === 401) {
    return signedOut(desk, ask === "session" ? desk.signedOut : ask === "signOut" ? "left" : "ended", now, [])
  }
  if (isPassing(failure)) return troubled(rested, ask, failure)
  if (failure.status === 409 && ask === "undo") {
    const progress = desk.progress === null ? null : { ...desk.progress, undoable: false }
    return send({ ...rested, wanted: null, progress, notice: { tone: "warn", text: failure.detail } }, now)
  }
  const gone = failure.status === 409 || failure.status === 404
  if (gone && desk.item !== null && desk.entry !== null && ask !== "next") {
    const unsure = ask === "submit" ? mayHaveArrived(desk, false) : desk.unsure
    return send(
      { ...rested, ...taken(desk, desk.item, desk.entry), unsure, wanted: { _tag: "next" }, saveDue: false },
      now,
    )
  }
  return send({ ...rested, wanted: null, saveDue: false, notice: { tone: "bad", text: failure.detail } }, now)
}

/** A browser may send a request twice when the connection breaks: the first of them may have arrived. */
const mayHaveArrived = (desk: Desk, broke: boolean): Desk["unsure"] =>
  desk.unsure ?? (desk.progress === null ? null : { judged: desk.progress.judged, broke })

/** The item is held no more: what was entered is shown until it is put away. */
const taken = (desk: Desk, item: HeldItem, entry: entries.Entry): Pick<Desk, "notice" | "lost"> => ({
  notice: {
    tone: "warn",
    text: "The item before is no longer yours: it was held for too long, or its task has ended.",
  },
  lost: entries.isBlank(entry)
    ? desk.lost
    : { prompt: item.prompt.slice(0, 300), statement: entries.statement(entry), rationale: entry.rationale },
})

const isPassing = ({ status }: Failure): boolean => status === 0 || status === 408 || status === 429 || status >= 500

const troubled = (desk: Desk, ask: Ask, failure: Failure): Step => {
  const attempts = (desk.trouble?.attempts ?? 0) + 1
  const after = Math.min(2_000 * 2 ** (attempts - 1), 30_000)
  // With 429 nothing was done; after any other failure it may have been.
  const maybeDone = failure.status !== 429
  return [
    {
      ...desk,
      trouble: { words: failure.detail, attempts, waiting: true },
      saveDue: desk.saveDue || ask === "save",
      unsure: ask === "submit" && maybeDone ? mayHaveArrived(desk, true) : desk.unsure,
      wanted: ask === "undo" && maybeDone ? { _tag: "next" } : desk.wanted,
    },
    [
      { _tag: "timer", timer: "retry", after: Math.max(after, (failure.retryAfter ?? 0) * 1_000) },
      { _tag: "timer", timer: "look", after: null },
    ],
  ]
}

const signedOut = (desk: Desk, why: SignedOut, now: number, commands: ReadonlyArray<Command>): Step => [
  { ...initial(now, desk.visible), phase: "signedOut", signedOut: why, mode: desk.mode },
  [
    ...commands,
    ...(["save", "hold", "look", "retry"] as const).map((timer): Command => ({ _tag: "timer", timer, after: null })),
  ],
]

const rang = (desk: Desk, timer: Timer, now: number): Step => {
  switch (timer) {
    case "save":
      return send({ ...desk, saveDue: desk.saveDue || isUnsaved(desk) }, now)
    case "look":
      return desk.visible && desk.item === null && desk.wanted === null
        ? send({ ...desk, wanted: { _tag: "next" } }, now)
        : [desk, []]
    case "hold": {
      if (desk.item === null) return [desk, []]
      const there = attention.isThere(desk.attention, now, awayAfterMillis)
      return also(send({ ...desk, saveDue: desk.saveDue || there }, now), [
        { _tag: "timer", timer: "hold", after: desk.holdEvery },
      ])
    }
    case "retry": {
      if (desk.trouble === null || desk.underway !== null) return [desk, []]
      const next = { ...desk, trouble: atOnce(desk.trouble) }
      if (desk.phase === "starting") return enter(next)
      const sent = send(next, now)
      return sent[1].length === 0 ? [{ ...next, trouble: null }, []] : sent
    }
  }
}

const shown = (desk: Desk, visible: boolean, now: number): Step => {
  const next: Desk = { ...desk, visible, attention: attention.visible(desk.attention, now, visible) }
  if (!visible) return send({ ...next, saveDue: next.saveDue || isUnsaved(next) }, now, true)
  if (next.phase !== "working") return [next, []]
  if (next.item === null) return rang(next, "look", now)
  // The hold may have ended meanwhile: better known before anything is written.
  return now - next.lastSave > 60_000 ? send({ ...next, saveDue: true }, now) : [next, []]
}

const also = ([desk, commands]: Step, more: ReadonlyArray<Command>): Step => [desk, [...commands, ...more]]
