/**
 * Decides when the answers to task creations end a run: after several lost tasks in a row, when the service refuses the
 * first tasks and accepts none, or when it gives several tasks the same id. A single lost task does not end a run.
 */
import { AnnotationClientError, TasksRefused, UnusableAnswer } from "./AnnotationClientError.ts"

/** Tasks in a row that end in doubt or are left for the next run, before the run ends. */
const maxLostInARow = 5

/** Tasks refused, with none accepted, before the run ends: the service would refuse the others, too. */
const maxFirstRefusals = 20

/** Further tasks answered with the same id before the run ends: that member may not be an id. */
const maxTasksPerId = 5

/** Each function gives the failure that ends the run, or undefined. */
export const make = (baseUrl: string) => {
  let lostInARow = 0
  let firstRefusals: number | undefined = 0
  const sharedIds = new Map<string, number>()
  const failure = (reason: AnnotationClientError["reason"]) => new AnnotationClientError({ baseUrl, reason })
  return {
    /** The service accepted a task. */
    accepted: (): void => {
      lostInARow = 0
      firstRefusals = undefined
    },
    lost: (failure: AnnotationClientError): AnnotationClientError | undefined =>
      ++lostInARow < maxLostInARow ? undefined : failure,
    refused: (status: number, detail: string): AnnotationClientError | undefined =>
      firstRefusals === undefined || ++firstRefusals < maxFirstRefusals
        ? undefined
        : failure(new TasksRefused({ tasks: maxFirstRefusals, status, detail })),
    /** A task is in doubt because it was answered with the id of another task. */
    shared: (taskId: string, reason: string): AnnotationClientError | undefined => {
      const times = (sharedIds.get(taskId) ?? 0) + 1
      sharedIds.set(taskId, times)
      return times < maxTasksPerId ? undefined : failure(new UnusableAnswer({ detail: reason }))
    },
  }
}
