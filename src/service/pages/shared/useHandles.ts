/** Replaces images in texts by handles (see `images`). The handles are valid while the component is mounted. */
import { useEffect, useMemo } from "preact/hooks"
import { shortening } from "./images.ts"

type Shorten = ReturnType<typeof shortening>["shorten"]

export const useHandles = <A>(value: A, replace: (value: A, shorten: Shorten) => A): A => {
  const [shown, end] = useMemo(() => {
    const { end, shorten } = shortening()
    return [replace(value, shorten), end] as const
  }, [value])
  useEffect(() => end, [end])
  return shown
}
