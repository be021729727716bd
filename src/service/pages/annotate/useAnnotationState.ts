/** Runs the state machine of `annotationStep` in the browser: dispatches events and carries out commands in order. */
import { useEffect, useRef, useState } from "preact/hooks"
import type { Work } from "../../pageApi/AnnotateApi.ts"
import { makeClient } from "../shared/api.ts"
import * as localCopies from "./localCopies.ts"
import { step } from "./annotationStep.ts"
import {
  type AnnotateRequests,
  type Ask,
  type Command,
  type AnnotationState,
  type Event,
  initial,
  type Timer,
} from "./annotationState.ts"
import { readPreference, writePreference } from "./preferences.ts"

export type Dispatch = (event: Event) => void

const { ask: request } = makeClient<AnnotateRequests>("/annotate/api")
/** Maximum bytes of a body that is sent while the page closes. Browsers refuse such a body if it exceeds 64 KiB. */
const maxKeepaliveBytes = 60_000
const activityIntervalMillis = 5_000

export const useAnnotationState = (): readonly [AnnotationState, Dispatch] => {
  const [state, setState] = useState(() => initial(Date.now(), isVisible()))
  const run = useRef<Dispatch>(undefined)
  const dispatch = (run.current ??= makeDispatch(state, setState))
  useEffect(() => {
    const begin = () =>
      dispatch({ _tag: "start", code: takeInvitation(), mode: readPreference("mode") === "rank" ? "rank" : "best" })
    const stops = [
      on(document, "visibilitychange", () => dispatch({ _tag: "visible", visible: isVisible() })),
      on(window, "pagehide", () => dispatch({ _tag: "leave" })),
      on(window, "online", () => dispatch({ _tag: "retry" })),
      on(window, "hashchange", () => {
        if (location.hash.startsWith(invitation)) begin()
      }),
      onActivity(() => dispatch({ _tag: "activity" })),
    ]
    begin()
    return () => {
      for (const stop of stops) stop()
    }
  }, [])
  return [state, dispatch]
}

const makeDispatch = (first: AnnotationState, setState: (state: AnnotationState) => void): Dispatch => {
  let state = first
  let expertId = ""
  const timers = new Map<Timer, ReturnType<typeof setTimeout>>()
  const store = localCopies.make(() => localStorage)
  store.forgetOld(Date.now())

  const dispatch: Dispatch = (event) => {
    const [next, commands] = step(state, event, Date.now())
    const changed = next !== state
    state = next
    for (const command of commands) carryOut(command)
    if (changed) setState(state)
  }

  const carryOut = (command: Command) => {
    switch (command._tag) {
      case "ask":
        return ask(command)
      case "timer": {
        const { after, timer } = command
        clearTimeout(timers.get(timer))
        if (after !== null)
          timers.set(
            timer,
            setTimeout(() => dispatch({ _tag: "timer", timer }), after),
          )
        return undefined
      }
      case "keep":
        return store.keep(expertId, command.itemId, command.draft, Date.now())
      case "forget":
        return store.forget(expertId, command.itemId)
      case "forgetAll":
        return store.forgetAll()
      case "mode":
        return writePreference("mode", command.mode)
    }
  }

  const ask = ({ ask, leaving, sent }: Command & { _tag: "ask" }) => {
    const keepalive = leaving && new TextEncoder().encode(JSON.stringify(sent.input ?? null)).length < maxKeepaliveBytes
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `Sent` pairs each request with its input
    void request<"POST /join">(sent.request as "POST /join", sent.input as never, { keepalive }).then((answer) =>
      dispatch(answer.ok ? eventOf(ask, answer.value) : { _tag: "failure", ask, failure: answer.problem }),
    )
  }

  const eventOf = (ask: Ask, value: unknown): Event => {
    switch (ask) {
      case "join":
        return { _tag: "joined" }
      case "save":
        return { _tag: "saved" }
      case "signOut":
        return { _tag: "signedOut" }
      case "session": {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `AnnotateApi` declares this response
        const { expert_id, name, progress } = value as AnnotateRequests["GET /session"]["answer"]
        expertId = expert_id
        return { _tag: "session", name, progress }
      }
      default: {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `AnnotateApi` declares this response
        const work = value as Work
        return { _tag: "answer", ask, work, copy: work.item && store.read(expertId, work.item.item_id) }
      }
    }
  }

  return dispatch
}

const isVisible = () => document.visibilityState === "visible"

const invitation = "#join="

/** Returns the invitation code from the address, and removes it there, so that it is not in the browser's history. */
const takeInvitation = (): string | null => {
  if (!location.hash.startsWith(invitation)) return null
  const code = location.hash.slice(invitation.length)
  history.replaceState(null, "", location.pathname + location.search)
  return code === "" ? null : code
}

const on = (target: EventTarget, name: string, run: () => void): (() => void) => {
  const options = { capture: true, passive: true }
  target.addEventListener(name, run, options)
  return () => target.removeEventListener(name, run, options)
}

const onActivity = (run: () => void): (() => void) => {
  let last = -activityIntervalMillis
  const report = () => {
    const now = performance.now()
    if (now - last < activityIntervalMillis) return
    last = now
    run()
  }
  const stops = ["keydown", "pointerdown", "pointermove", "scroll", "wheel", "touchmove"].map((name) =>
    on(window, name, report),
  )
  return () => {
    for (const stop of stops) stop()
  }
}
