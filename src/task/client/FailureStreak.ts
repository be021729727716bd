/**
 * Decides when failed task creations end a run. A run ends
 * - after several consecutive lost tasks (state `in_doubt`, or left for the next run),
 * - if the service refuses the first tasks and accepts none, or
 * - if the service gives several tasks the same id.
 *
 * If the caller continues afterwards, the next failure of the same kind ends the run again, unless the service has
 * accepted a task in the meantime.
 */
import { AnnotationClientError, TasksRefused, UnusableAnswer } from "./AnnotationClientError.ts"

/** The run ends after this many consecutive lost tasks. */
const maxLostInARow = 5

/** A run without an accepted task ends after this many refused tasks, including the halves of split tasks. */
const maxFirstRefusals = 20

/** If the service returns the same id for this many tasks, the value is probably not an id, and the run ends. */
const maxTasksPerId = 5

export type FailureStreak = ReturnType<typeof make>

/** `lost`, `refused`, and `sharedTaskId` return the failure that ends the run, or undefined. */
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
    /** Whether failures have ended a run and no task was accepted since then. */
    hasEnded: (): boolean => hasEnded,
    count: (): number => accepted,
    /** Call it when the service has accepted a task and returned a unique id. */
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
    /** Records that a task is in the state `in_doubt` because the service answered with the id of another task. */
    sharedTaskId: (taskId: string, reason: string): AnnotationClientError | undefined => {
      const times = (sharedIds.get(taskId) ?? 0) + 1
      sharedIds.set(taskId, times)
      return times < maxTasksPerId ? undefined : failure(new UnusableAnswer({ detail: reason }))
    },
  }
}
