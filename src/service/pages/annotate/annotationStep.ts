/**
 * The state machine of the annotation page. `step` is pure; `useAnnotationState` runs its commands.
 * - Only one request is in flight at a time, so a draft cannot arrive after its submission.
 * - Unsaved entries and unsubmitted corrections are kept on this device.
 * - If the response to a submission is lost, the page finds out whether the judgment arrived.
 * - An undo is repeated only after a 429. Otherwise, the undo may have worked, and a repeat may undo another vote.
 */
/* oxlint-disable max-lines -- one state machine, whose transitions share their helpers */
import type { Draft, HeldItem, Work } from "../../pageApi/AnnotateApi.ts"
import * as attention from "./attention.ts"
import type { AnnotationState, Ask, Command, Event, Failure, Notice } from "./annotationState.ts"
import { initial, type Sent, type SignedOut, type Timer, type Wanted } from "./annotationState.ts"
import * as entries from "./entry.ts"

/** A draft is saved `saveDelayMillis` after the last change, but at most `maxSaveDelayMillis` after the first one. */
export const saveDelayMillis = 800
export const maxSaveDelayMillis = 5_000
export const pollIntervalMillis = 15_000
/** If the expert does nothing for this long, the hold is no longer renewed. */
export const awayAfterMillis = 300_000

type Step = readonly [AnnotationState, ReadonlyArray<Command>]

export const step = (state: AnnotationState, event: Event, now: number): Step => {
  switch (event._tag) {
    case "start":
      return enter({ ...initial(now, state.visible), mode: event.mode, code: event.code })
    case "joined":
      return enter({ ...state, code: null })
    case "session": {
      const { name, progress } = event
      const working = { ...state, phase: "working" as const, name, progress, inFlight: null, trouble: null }
      return send({ ...working, wanted: { _tag: "next" } }, now)
    }
    case "answer":
      return answered(state, event, now)
    case "saved":
      return saved(state, now)
    case "signedOut":
      return signedOut(state, "left", now, [{ _tag: "forgetAll" }])
    case "failure":
      return failed(state, event.ask, event.failure, now)
    case "edit":
      return edited(state, event, now)
    case "want":
      return wanted(state, event.wanted, now)
    case "timer":
      return onTimer(state, event.timer, now)
    case "visible":
      return onVisibility(state, event.visible, now)
    case "leave":
      return send({ ...state, saveDue: state.saveDue || isUnsaved(state) }, now, true)
    case "activity": {
      const back = state.item !== null && state.visible && !attention.isActive(state.attention, now, awayAfterMillis)
      const next = { ...state, attention: attention.recordActivity(state.attention, now) }
      return back ? send({ ...next, saveDue: true }, now) : [next, []]
    }
    case "retry":
      return onTimer(state, "retry", now)
    case "putAway":
      return [{ ...state, lost: null }, []]
    case "say":
      return [{ ...state, notice: event.notice }, []]
  }
}

export const isUnsaved = (state: AnnotationState): boolean => isHeld(state) && state.revision > state.saved

/** Whether the service stores drafts of the item. The draft of a correction is stored only on this device. */
const isHeld = ({ item }: AnnotationState): boolean => item !== null && item.corrects === null

/** Whether a request by the expert, such as a submission, is in flight or waits for a connection. */
export const isBusy = (state: AnnotationState): boolean => state.wanted !== null

/** Whether a submission, skip, or flag is in flight. Meanwhile, the entry cannot be changed. */
const isLeaving = ({ inFlight }: AnnotationState): boolean =>
  inFlight?.ask === "submit" || inFlight?.ask === "skip" || inFlight?.ask === "flag"

const enter = (state: AnnotationState): Step =>
  state.code === null
    ? post(state, "session", { request: "GET /session", input: undefined }, false)
    : post(state, "join", { request: "POST /join", input: { payload: { code: state.code } } }, false)

const post = (state: AnnotationState, ask: Ask, sent: Sent, leaving: boolean): Step => [
  { ...state, inFlight: { ask, revision: state.revision } },
  [{ _tag: "ask", ask, sent, leaving }],
]

const send = (state: AnnotationState, now: number, leaving = !state.visible): Step => {
  if (state.inFlight !== null || state.phase !== "working") return [state, []]
  if (state.trouble?.waiting === true && !leaving) return [state, []]
  const { item, entry, wanted } = state
  const seconds = attention.seconds(state.attention, now)
  if (item !== null && entry !== null) {
    const params = { item_id: item.item_id }
    const leavesItem = wanted?._tag === "undo" || wanted?._tag === "signOut" || wanted?._tag === "correct"
    if ((leavesItem && isUnsaved(state)) || (wanted === null && state.saveDue && isHeld(state))) {
      const input = { params, payload: entries.toDraft(entry, seconds) }
      const saving = { ...state, saveDue: false, lastSave: now }
      return withCommands(post(saving, "save", { request: "PUT /items/:item_id/draft", input }, leaving), [
        { _tag: "timer", timer: "save", after: null },
      ])
    }
    switch (wanted?._tag) {
      case "submit": {
        const vote = entries.submission(entry, item.rubric, seconds)
        // The expert removed a required answer while the submission waited for a connection.
        if (vote === null) return [{ ...state, wanted: null, notice: lacking(entry, item) }, []]
        const input = { params, payload: { ...vote, guidelines_version: item.guidelines_version } }
        const request = item.corrects === null ? "POST /items/:item_id/vote" : "PUT /judgments/:item_id"
        return post(state, "submit", { request, input }, leaving)
      }
      case "guidelines": {
        const input = { params, payload: { version: item.guidelines_version } }
        return post(state, "guidelines", { request: "POST /items/:item_id/guidelines", input }, leaving)
      }
      case "skip": {
        const input = { params, payload: { reason: wanted.reason } }
        return post(state, "skip", { request: "POST /items/:item_id/skip", input }, leaving)
      }
      case "flag":
        return post(
          state,
          "flag",
          { request: "POST /items/:item_id/flag", input: { params, payload: wanted.flag } },
          leaving,
        )
    }
  }
  if (wanted?._tag === "next" || wanted?._tag === "undo")
    return post(state, wanted._tag, { request: `POST /${wanted._tag}`, input: undefined }, leaving)
  if (wanted?._tag === "correct") {
    const input = { params: { item_id: wanted.itemId } }
    return post(state, "correct", { request: "GET /judgments/:item_id", input }, leaving)
  }
  if (wanted?._tag === "signOut")
    return post(state, "signOut", { request: "POST /sign-out", input: undefined }, leaving)
  return [wanted === null ? state : { ...state, wanted: null }, []]
}

const lacking = (entry: entries.Entry, { rubric }: HeldItem): Notice => ({
  tone: "warn",
  text: entries.missing(entry, rubric)?.words ?? "",
})

const wanted = (state: AnnotationState, wanted: Wanted, now: number): Step => {
  const waits = state.inFlight === null && wanted._tag === "signOut"
  if (state.phase !== "working" || (state.wanted !== null && !waits)) return [state, []]
  if (wanted._tag === "undo" && state.progress?.undoable !== true) {
    return [{ ...state, notice: { tone: "plain", text: "There is nothing to take back." } }, []]
  }
  const { entry, item } = state
  if (wanted._tag === "submit" && entry !== null && item !== null && entries.missing(entry, item.rubric) !== null) {
    return [{ ...state, notice: lacking(entry, item) }, []]
  }
  return send({ ...state, wanted, trouble: notWaiting(state.trouble), notice: null }, now)
}

const notWaiting = (trouble: AnnotationState["trouble"]) => (trouble === null ? null : { ...trouble, waiting: false })

const edited = (state: AnnotationState, { itemId, change }: Event & { _tag: "edit" }, now: number): Step => {
  if (state.item?.item_id !== itemId || state.entry === null || isLeaving(state)) return [state, []]
  const entry = change(state.entry)
  const since = state.unsavedSince ?? now
  return [
    {
      ...state,
      entry,
      mode: entry.mode,
      revision: state.revision + 1,
      unsavedSince: since,
      notice: state.notice?.tone === "warn" ? null : state.notice,
      attention: attention.recordActivity(state.attention, now),
    },
    [
      {
        _tag: "keep",
        itemId: state.item.item_id,
        draft: entries.toDraft(entry, attention.seconds(state.attention, now)),
      },
      { _tag: "timer", timer: "save", after: Math.max(0, Math.min(saveDelayMillis, since + maxSaveDelayMillis - now)) },
      ...(entry.mode === state.mode ? [] : [{ _tag: "mode", mode: entry.mode } as const]),
    ],
  ]
}

const saved = (state: AnnotationState, now: number): Step => {
  const revision = state.inFlight?.revision ?? state.saved
  const next: AnnotationState = {
    ...state,
    inFlight: null,
    trouble: null,
    saved: Math.max(state.saved, revision),
    unsavedSince: state.revision > revision ? now : null,
  }
  const forget: ReadonlyArray<Command> =
    state.item === null || isUnsaved(next) ? [] : [{ _tag: "forget", itemId: state.item.item_id }]
  return withCommands(send(next, now), [...forget, { _tag: "timer", timer: "retry", after: null }])
}

const answered = (state: AnnotationState, event: Event & { _tag: "answer" }, now: number): Step => {
  const { ask, work, copy } = event
  const done = ask === "submit" || ask === "skip" || ask === "flag"
  const arrived = state.unsure !== null && ask === "next" && work.progress.judged > state.unsure.judged
  const commands: Array<Command> = [{ _tag: "timer", timer: "retry", after: null }]
  const before = state.item
  if (before !== null && (done || arrived)) commands.push({ _tag: "forget", itemId: before.item_id })
  const answeredState: AnnotationState = {
    ...state,
    inFlight: null,
    wanted: null,
    trouble: null,
    unsure: null,
    progress: work.progress,
    isLoaded: true,
    lost: arrived && state.unsure?.broke ? null : state.lost,
    notice: arrived ? hadArrived(state.unsure?.broke ?? false) : noticeOf(ask, work, state, copy !== null),
  }
  // If the service sends the item that the page already shows, the page keeps the expert's input (`entry`). The input
  // is newer than the service's draft.
  if (work.item !== null && before !== null && work.item.item_id === before.item_id && !done && ask !== "undo") {
    const isBack: Notice = { tone: "good", text: "The item had returned to the queue, and is now yours again." }
    const notice = state.lost === null ? answeredState.notice : isBack
    const every = holdEvery(work.item, now)
    const held = { ...answeredState, item: work.item, holdEvery: every, lost: null, notice }
    return withCommands(send({ ...held, saveDue: isUnsaved(held) }, now), [
      ...commands,
      { _tag: "timer", timer: "hold", after: every },
    ])
  }
  return withItem(answeredState, work.item, copy, commands, now)
}

const hadArrived = (broke: boolean): Notice =>
  broke
    ? { tone: "good", text: "The service did receive your judgment of the previous item." }
    : {
        tone: "warn",
        text: "The service already had your judgment of the previous item, perhaps from another tab. The earlier judgment counts.",
      }

const withItem = (
  state: AnnotationState,
  item: HeldItem | null,
  copy: Draft | null,
  commands: ReadonlyArray<Command>,
  now: number,
): Step => {
  const draft = copy ?? item?.draft ?? null
  const newer = copy !== null
  const every = item === null ? state.holdEvery : holdEvery(item, now)
  return [
    {
      ...state,
      item,
      entry: item === null ? null : entries.open(item, draft, state.mode),
      attention: attention.start(draft?.seconds ?? 0, now, state.visible),
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
      { _tag: "timer", timer: "poll", after: item === null ? pollIntervalMillis : null },
      { _tag: "timer", timer: "hold", after: item === null ? null : every },
    ],
  ]
}

/** Returns a third of the remaining hold. The result is from 20 seconds to 2 minutes, even if the clock is wrong. */
const holdEvery = (item: HeldItem, now: number) => Math.min(Math.max((item.held_until - now) / 3, 20_000), 120_000)

const keptCorrection: Notice = {
  tone: "warn",
  text: "Your correction was not submitted. It is kept on this device: to submit it, open the judgment again (J).",
}
const restoredCorrection: Notice = {
  tone: "plain",
  text: "Your earlier, unsubmitted correction is restored. It does not count until you submit it.",
}

const noticeOf = (ask: Ask, work: Work, state: AnnotationState, isRestored: boolean): Notice | null => {
  const good = (text: string): Notice => ({ tone: "good", text })
  const then = work.item === null ? "" : ` Item ${work.item.task.number} of ${work.item.task.prompts} is next.`
  if (ask === "submit") return good(`${state.item?.corrects === null ? "Submitted" : "Corrected"}.${then}`)
  const isLeft = state.item !== null && state.item.corrects !== null && state.item.item_id !== work.item?.item_id
  // If the service refused the correction, `state.notice` already gives the reason.
  if (isLeft && state.revision > 0 && state.notice === null) return keptCorrection
  if (ask === "correct") return isRestored ? restoredCorrection : null
  if (ask === "skip") return good(`Skipped.${then}`)
  if (ask === "flag") return good(`Flagged: the operator will see your reason.${then}`)
  if (ask === "undo") return good("Taken back. Change your judgment and submit it again.")
  if (state.item !== null) return state.notice
  return state.isLoaded && state.item === null && work.item !== null ? good("A new item is ready to judge.") : null
}

const failed = (state: AnnotationState, ask: Ask, failure: Failure, now: number): Step => {
  const rested = { ...state, inFlight: null }
  if (ask === "join" && failure.status >= 400 && failure.status < 500 && failure.status !== 429) {
    // A used link is no error if the browser already has a session.
    return enter({ ...rested, code: null, signedOut: "invitation" })
  }
  if (failure.status === 401) {
    return signedOut(state, ask === "session" ? state.signedOut : ask === "signOut" ? "left" : "ended", now, [])
  }
  if (isPassing(failure)) return troubled(rested, ask, failure)
  if (failure.status === 409 && (ask === "undo" || ask === "correct")) {
    const progress =
      state.progress === null || ask === "correct" ? state.progress : { ...state.progress, undoable: false }
    return send({ ...rested, wanted: null, progress, notice: { tone: "warn", text: failure.detail } }, now)
  }
  const gone = failure.status === 409 || failure.status === 404
  if (gone && state.item !== null && state.entry !== null && ask !== "next") {
    const unsure = ask === "submit" ? mayHaveArrived(state, false) : state.unsure
    return send(
      {
        ...rested,
        ...lostItem(state, state.item, state.entry, failure),
        unsure,
        wanted: { _tag: "next" },
        saveDue: false,
      },
      now,
    )
  }
  return send({ ...rested, wanted: null, saveDue: false, notice: { tone: "bad", text: failure.detail } }, now)
}

/** A browser may send a submission twice. If the second request is refused, the first may still have been accepted. */
const mayHaveArrived = (state: AnnotationState, broke: boolean): AnnotationState["unsure"] =>
  state.unsure ?? (state.progress === null ? null : { judged: state.progress.judged, broke })

const lostItem = (
  state: AnnotationState,
  item: HeldItem,
  entry: entries.Entry,
  { detail }: Failure,
): Pick<AnnotationState, "notice" | "lost"> => ({
  notice: {
    tone: "warn",
    text:
      item.corrects === null
        ? "The previous item is no longer yours: you held it for too long, a manager paused or withdrew it, or its task has ended."
        : detail,
  },
  lost: entries.isBlank(entry)
    ? state.lost
    : { prompt: item.prompt.slice(0, 300), choice: entries.format(entry), rationale: textOf(entry) },
})

const textOf = (entry: entries.Entry): string =>
  [entry.rationale, entry.said.edit?.text ?? ""].filter((text) => text.trim() !== "").join("\n\n")

const isPassing = ({ status }: Failure): boolean => status === 0 || status === 408 || status === 429 || status >= 500

const troubled = (state: AnnotationState, ask: Ask, failure: Failure): Step => {
  const attempts = (state.trouble?.attempts ?? 0) + 1
  const after = Math.min(2_000 * 2 ** (attempts - 1), 30_000)
  // Status 429 means that the service did not carry out the request. With any other status, this is unknown.
  const maybeDone = failure.status !== 429
  return [
    {
      ...state,
      trouble: { words: failure.detail, attempts, waiting: true },
      saveDue: state.saveDue || ask === "save",
      unsure: ask === "submit" && maybeDone ? mayHaveArrived(state, true) : state.unsure,
      wanted: ask === "undo" && maybeDone ? { _tag: "next" } : state.wanted,
    },
    [
      { _tag: "timer", timer: "retry", after: Math.max(after, (failure.retryAfter ?? 0) * 1_000) },
      { _tag: "timer", timer: "poll", after: null },
    ],
  ]
}

const signedOut = (state: AnnotationState, why: SignedOut, now: number, commands: ReadonlyArray<Command>): Step => [
  { ...initial(now, state.visible), phase: "signedOut", signedOut: why, mode: state.mode },
  [
    ...commands,
    ...(["save", "hold", "poll", "retry"] as const).map((timer): Command => ({ _tag: "timer", timer, after: null })),
  ],
]

const onTimer = (state: AnnotationState, timer: Timer, now: number): Step => {
  switch (timer) {
    case "save":
      return send({ ...state, saveDue: state.saveDue || isUnsaved(state) }, now)
    case "poll":
      return state.visible && state.item === null && state.wanted === null
        ? send({ ...state, wanted: { _tag: "next" } }, now)
        : [state, []]
    case "hold": {
      if (state.item === null) return [state, []]
      const there = attention.isActive(state.attention, now, awayAfterMillis)
      return withCommands(send({ ...state, saveDue: state.saveDue || there }, now), [
        { _tag: "timer", timer: "hold", after: state.holdEvery },
      ])
    }
    case "retry": {
      if (state.trouble === null || state.inFlight !== null) return [state, []]
      const next = { ...state, trouble: notWaiting(state.trouble) }
      if (state.phase === "starting") return enter(next)
      const sent = send(next, now)
      return sent[1].length === 0 ? [{ ...next, trouble: null }, []] : sent
    }
  }
}

const onVisibility = (state: AnnotationState, visible: boolean, now: number): Step => {
  const next: AnnotationState = { ...state, visible, attention: attention.setVisible(state.attention, now, visible) }
  if (!visible) return send({ ...next, saveDue: next.saveDue || isUnsaved(next) }, now, true)
  if (next.phase !== "working") return [next, []]
  if (next.item === null) return onTimer(next, "poll", now)
  // A save renews the reservation of the item. If the reservation has ended, the service refuses the draft. The expert
  // then sees a notice before judging the item.
  return now - next.lastSave > 60_000 ? send({ ...next, saveDue: true }, now) : [next, []]
}

const withCommands = ([state, commands]: Step, more: ReadonlyArray<Command>): Step => [state, [...commands, ...more]]
