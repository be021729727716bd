/**
 * Adapter: limits how far V8's heaps grow before garbage is collected. V8 trades memory for speed, and runs of this tool get no faster
 * by it.
 *
 * - Young generation: once it has reached 16 MB, it stops growing. V8's own limit is 64 MB, and can be changed only before the process
 *   starts. A job of large texts then takes 60 to 80 MB less, and no more time.
 * - Old generation: it is collected when it has doubled since the last time; V8 waits until it is up to four times as large. An export of
 *   small texts takes 110 MB less, one of large texts 40 MB, and 2% more time.
 */
import { PerformanceObserver } from "node:perf_hooks"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"

const maxBytes = 16 * 1024 * 1024

const growingPercent = 100

/**
 * Threads that start later begin with this, in MB, since it does not grow in them, either. With 1 MB, the thread that writes a dataset
 * collects 1,400 times for 50,000 items.
 */
const megabytesInThreads = 4

const isLarge = (): boolean =>
  getHeapSpaceStatistics().some((space) => space.space_name === "new_space" && space.space_size >= maxBytes)

/** For a process of our own, not for a library: the settings are those of the whole process. */
export const bound = (): void => {
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`)
  // The young generation grows in a garbage collection. Nobody has to wake up for a process that waits.
  const collections = new PerformanceObserver(() => {
    if (!isLarge()) return
    collections.disconnect()
    setFlagsFromString("--semi-space-growth-factor=1")
    setFlagsFromString(`--min-semi-space-size=${megabytesInThreads}`)
  })
  collections.observe({ entryTypes: ["gc"] })
}
