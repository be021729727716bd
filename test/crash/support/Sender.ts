/**
 * The service's side of webhooks: a delivery is sent again, to whichever process is there, until
 * it is answered with 204. What breaks off after it was recorded is not sent again, so that it
 * is up to the record alone.
 */
import { signed, completed } from "../../support/webhooks.ts"
import type { OnStart } from "./Job.ts"

export interface Sender {
  /** To be told of each process that listens. */
  readonly to: OnStart
  /** Delivers that tasks are completed; ends when that was answered, or given up. */
  readonly deliver: (taskIds: ReadonlyArray<string>) => Promise<void>
}

/** `isRecorded` says whether a delivery stands in the ledger of the process that was killed. */
export const make = (isRecorded: (id: string) => boolean): Sender => {
  const listening: Array<string> = []
  const waiting = new Set<() => void>()
  /** Deliveries that are not sent again. */
  const over = new Set<string>()

  /** The newest, once there is a newer one than was tried. */
  const urlAfter = async (tried: number) => {
    while (listening.length - 1 <= tried) await new Promise<void>((resolve) => waiting.add(resolve))
    return listening.length - 1
  }

  return {
    to: ({ talks }) => {
      const announced = /^Webhooks are received at (\S+)\n/m
      const learn = async () => {
        const [, url = ""] = announced.exec(await talks(announced)) ?? []
        listening.push(url)
        waiting.forEach((resolve) => resolve())
        waiting.clear()
      }
      void learn()
    },
    deliver: async (taskIds) => {
      const id = `msg_${taskIds.join("_").slice(0, 40)}`
      for (let tried = -1; !over.has(id);) {
        const at = await urlAfter(tried)
        try {
          const { status } = await fetch(listening[at]!, { method: "POST", ...signed(completed(taskIds), { id }) })
          if (status === 204) over.add(id)
        } catch {
          // The process was killed.
          tried = at
          if (isRecorded(id)) over.add(id)
        }
      }
    },
  }
}
