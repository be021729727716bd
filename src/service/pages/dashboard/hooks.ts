/** Hooks that views share. If requests overlap, only the last request's result is used. A hidden page does not poll. */
import { createContext } from "preact"
import { useContext, useEffect, useRef, useState } from "preact/hooks"
import type { Answer } from "../shared/api.ts"
import { parse, type Route } from "./routes.ts"
import { problemWords } from "./wording.ts"

/** Increases when an operator signs in, so that all data on the page is loaded again. */
export const Epoch = createContext(0)

export const Now = createContext(Date.now())

export const ShowSource = createContext(false)

/** Shows a message after a successful action, also to screen readers. An empty text removes the message. */
export const Say = createContext<(words: string) => void>(() => {})

export interface Resource<A> {
  /** The data that was loaded last. It may belong to a previous key. */
  readonly data: A | undefined
  readonly stale: boolean
  readonly problem: string | undefined
  readonly reload: () => Promise<void>
}

export const Reload = createContext(() => {})

/** Reloads data every `every` milliseconds. Pauses while a dialog is open, because a reload might remove the dialog. */
export const useResource = <A>(key: string, load: () => Promise<Answer<A>>, every: number | undefined): Resource<A> => {
  const epoch = useContext(Epoch)
  const [state, setState] = useState<{ key: string; data?: A; problem?: string }>({ key: "" })
  const read = useRef<() => Promise<void>>(async () => {})

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let last = 0
    const once = async (isPoll = false) => {
      clearTimeout(timer)
      const mine = ++last
      const answer = isPoll && isDialogOpen() ? undefined : await load()
      if (mine !== last) return
      if (answer === undefined || (isPoll && isDialogOpen())) {
        // While a dialog is open, a poll changes nothing: the page keeps the old data.
      } else if (answer.ok) setState({ key, data: answer.value })
      else setState((state) => ({ ...state, problem: problemWords(answer.problem) }))
      if (every !== undefined && !document.hidden) timer = setTimeout(() => void once(true), every)
    }
    const onVisibility = () => {
      if (document.hidden) clearTimeout(timer)
      else void once(true)
    }
    read.current = once
    void once()
    document.addEventListener("visibilitychange", onVisibility)
    return () => {
      document.removeEventListener("visibilitychange", onVisibility)
      clearTimeout(timer)
      last = -1
    }
  }, [key, epoch, every])

  return { data: state.data, stale: state.key !== key, problem: state.problem, reload: () => read.current() }
}

export const isDialogOpen = () => document.querySelector("dialog[open]") !== null

export const useAction = (words: typeof problemWords = problemWords) => {
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const inFlight = useRef(false)
  return {
    busy,
    problem,
    /** Passes a successful response to `then`. Does nothing while an earlier request is in flight. */
    run: async <A>(ask: () => Promise<Answer<A>>, then: (value: A) => void) => {
      if (inFlight.current) return
      inFlight.current = true
      setBusy(true)
      setProblem(undefined)
      const answer = await ask()
      inFlight.current = false
      setBusy(false)
      if (answer.ok) then(answer.value)
      else setProblem(words(answer.problem))
    },
  }
}

export const useRoute = (): Route => {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const onChange = () => setHash(location.hash)
    addEventListener("hashchange", onChange)
    return () => removeEventListener("hashchange", onChange)
  }, [])
  return parse(hash)
}

export const useClock = (): number => {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const tick = () => {
      if (!document.hidden) setNow(Date.now())
    }
    const timer = setInterval(tick, 10_000)
    document.addEventListener("visibilitychange", tick)
    return () => {
      clearInterval(timer)
      document.removeEventListener("visibilitychange", tick)
    }
  }, [])
  return now
}

/** Focuses the heading when it is shown, so that screen readers read it and key presses do not go to a field. */
export const useHeading = () => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return heading
}
