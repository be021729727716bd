/** The service's side of webhooks: a delivery is sent again, to whichever process is there, until it is answered with 204. */
import { signed, completed } from "../../support/webhooks.ts"
import type { OnStart } from "./Job.ts"

export interface Sender {
  /** To be told of a process that listens; whether what breaks off there is sent again, to the next one. */
  readonly to: (triesAgain: boolean) => OnStart
  /** Delivers that tasks are completed; ends when that was answered, or given up. */
  readonly deliver: (taskIds: ReadonlyArray<string>) => Promise<void>
}

export const make = (): Sender => {
  const listening: Array<{ readonly url: string; readonly triesAgain: boolean }> = []
  const waiting = new Set<() => void>()
  /** Deliveries that are not sent again. */
  const over = new Set<string>()

  /** The newest, once there is a newer one than was tried. */
  const urlAfter = async (tried: number) => {
    while (listening.length - 1 <= tried) await new Promise<void>((resolve) => waiting.add(resolve))
    return listening.length - 1
  }

  return {
    to:
      (triesAgain) =>
      ({ talks }) => {
        const announced = /^Webhooks are received at (\S+)\n/m
        const learn = async () => {
          const [, url = ""] = announced.exec(await talks(announced)) ?? []
          listening.push({ url, triesAgain })
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
          const { status } = await fetch(listening[at]!.url, { method: "POST", ...signed(completed(taskIds), { id }) })
          if (status === 204) over.add(id)
        } catch (error) {
          // The process was killed; where it was gone already, it can have recorded nothing.
          tried = at
          const { cause } = error as { readonly cause?: { readonly code?: string } }
          if (cause?.code !== "ECONNREFUSED" && !listening[at]!.triesAgain) over.add(id)
        }
      }
    },
  }
}
