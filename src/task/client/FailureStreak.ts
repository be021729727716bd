/**
 * Decides when the answers to task creations end a run: after several lost tasks in a row, when the service refuses the
 * first tasks and accepts none, or when it gives several tasks the same id. A single lost task does not end a run. For
 * whoever goes on after that end, the streak lasts until a task is accepted: the next failure ends it again.
 */
import { AnnotationClientError, TasksRefused, UnusableAnswer } from "./AnnotationClientError.ts"

/** Tasks in a row that end in doubt or are left for the next run, before the run ends. */
const maxLostInARow = 5

/** Tasks refused, halves of others among them, with none accepted, before the run ends: the service would refuse the others, too. */
const maxFirstRefusals = 20

/** Further tasks answered with the same id before the run ends: that member may not be an id. */
const maxTasksPerId = 5

export type FailureStreak = ReturnType<typeof make>

/** `lost`, `refused` and `shared` give the failure that ends the run, or undefined. */
export const make = (baseUrl: string) => {
  let accepted = 0
  let hasEnded = false
  let lostInARow = 0
  let firstRefusals: number | undefined = 0
  const sharedIds = new Map<string, number>()
  const ending = (failure: AnnotationClientError): AnnotationClientError => {
    hasEnded = true
    return failure
  }
  const failure = (reason: AnnotationClientError["reason"]) => ending(new AnnotationClientError({ baseUrl, reason }))
  return {
    /** Whether it ended a run, and no task was accepted since. */
    hasEnded: (): boolean => hasEnded,
    /** How many tasks were accepted. */
    count: (): number => accepted,
    /** The service accepted a task, and gave it an id of its own. */
    accepted: (): void => {
      accepted++
      hasEnded = false
      lostInARow = 0
      firstRefusals = undefined
    },
    lost: (failure: AnnotationClientError): AnnotationClientError | undefined =>
      ++lostInARow < maxLostInARow ? undefined : ending(failure),
    refused: (status: number, detail: string): AnnotationClientError | undefined =>
      firstRefusals === undefined || ++firstRefusals < maxFirstRefusals
        ? undefined
        : failure(new TasksRefused({ tasks: firstRefusals, status, detail })),
    /** A task is in doubt because it was answered with the id of another task. */
    shared: (taskId: string, reason: string): AnnotationClientError | undefined => {
      const times = (sharedIds.get(taskId) ?? 0) + 1
      sharedIds.set(taskId, times)
      return times < maxTasksPerId ? undefined : failure(new UnusableAnswer({ detail: reason }))
    },
  }
}
