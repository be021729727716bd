/** Compares the marked completion with another one, the base. The expert switches the comparison on and off. */
import { useEffect, useState } from "preact/hooks"
import type { Difference } from "../shared/textDifference.ts"
import type { MarkedProps } from "../shared/Marked.tsx"
import { compare } from "../shared/textClient.ts"

type State = "pending" | "refused" | Difference

interface Result {
  readonly base: number
  readonly marked: number
  readonly state: State
}

export const useDifference = (completions: ReadonlyArray<string>, marked: number) => {
  const [isOn, setOn] = useState(false)
  const [pair, setPair] = useState({ base: marked === 0 ? 1 : 0, marked })
  const [result, setResult] = useState<Result | null>(null)
  const base = pair.marked === marked ? pair.base : pair.base === marked ? pair.marked : pair.base
  if (pair.marked !== marked || pair.base !== base) setPair({ base, marked })
  const canCompare = completions.length > 1

  useEffect(() => {
    const left = completions[base]
    const right = completions[marked]
    if (!isOn || left === undefined || right === undefined) return undefined
    const tell = (state: State) => setResult({ base, marked, state })
    return compare(left, right, { done: (difference) => tell(difference ?? "refused"), failed: () => tell("refused") })
  }, [isOn, base, marked, completions])

  const state: State = result !== null && result.base === base && result.marked === marked ? result.state : "pending"
  return {
    isOn: isOn && canCompare,
    base,
    state,
    toggle: () => setOn(!isOn && canCompare),
    setBase: (place: number) => setPair({ base: place, marked }),
    nextBase: () => {
      const others = completions.map((_, place) => place).filter((place) => place !== marked)
      setPair({ base: others[(others.indexOf(base) + 1) % others.length] ?? base, marked })
    },
    partsOf: (place: number): MarkedProps | null => {
      if (!isOn || typeof state === "string") return null
      if (place === marked) return { kind: "ins", parts: state.right }
      return place === base ? { kind: "del", parts: state.left } : null
    },
  }
}

export type Differences = ReturnType<typeof useDifference>
