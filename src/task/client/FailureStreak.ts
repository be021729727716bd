/**
 * Ends a run after several tasks in a row without a usable response, after several refused tasks at the start, or after
 * several tasks with the same id. A worker starts a new run after such an end, and keeps the counts. Until the
 * service accepts a task, the new run sends one task at a time, and ends at the next failure of the same kind.
 */
import { AnnotationClientError, TasksRefused, UnusableAnswer } from "./AnnotationClientError.ts"

const maxLostInARow = 5

/** The run fails after this many refusals if no task was accepted. A task that was split in two can count twice. */
const maxFirstRefusals = 20

/** If the service returns the same id for this many tasks, the value is probably not an id. */
const maxTasksPerId = 5

export type FailureStreak = ReturnType<typeof make>

/** Call `lost`, `refused`, or `sharedTaskId` for a failed task. If the run must end, they return the run's failure. */
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
    /** Whether failures have ended a run, and the service has not accepted a task since then. */
    hasEnded: (): boolean => hasEnded,
    count: (): number => accepted,
    /** Call this when the service has accepted a task and returned a unique id. */
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
    sharedTaskId: (taskId: string, reason: string): AnnotationClientError | undefined => {
      const times = (sharedIds.get(taskId) ?? 0) + 1
      sharedIds.set(taskId, times)
      return times < maxTasksPerId ? undefined : failure(new UnusableAnswer({ detail: reason }))
    },
  }
}
