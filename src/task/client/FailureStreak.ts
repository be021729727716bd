/**
 * When a run ends because of how the service answers creations: after a few tasks lost in a row, where it refuses the first
 * tasks of the run and takes none, or where it gives several tasks the same id. Single losses end nothing.
 */
import { AnnotationClientError, TasksRefused, UnusableAnswer } from "./AnnotationClientError.ts"

/** Tasks that may come to be in doubt, or be left for the next run, one after another before the run ends. */
const maxLostInARow = 5

/** So many tasks that are refused before the service took any end the run: it would refuse the others, too. */
const maxFirstRefusals = 20

/** So many further tasks that get the id of one task end the run: what is read as an id may be none. */
const maxTasksPerId = 5

/** What each of these gives is what the run fails with, if it is to end. */
export const make = (baseUrl: string) => {
  let lostInARow = 0
  let firstRefusals: number | undefined = 0
  const sharedIds = new Map<string, number>()
  const failure = (reason: AnnotationClientError["reason"]) => new AnnotationClientError({ baseUrl, reason })
  return {
    /** The service took a task. */
    taken: (): void => {
      lostInARow = 0
      firstRefusals = undefined
    },
    lost: (failure: AnnotationClientError): AnnotationClientError | undefined =>
      ++lostInARow < maxLostInARow ? undefined : failure,
    refused: (status: number, detail: string): AnnotationClientError | undefined =>
      firstRefusals === undefined || ++firstRefusals < maxFirstRefusals
        ? undefined
        : failure(new TasksRefused({ tasks: maxFirstRefusals, status, detail })),
    /** A task was answered with an id that another task has, and is in doubt for that reason. */
    shared: (taskId: string, reason: string): AnnotationClientError | undefined => {
      const times = (sharedIds.get(taskId) ?? 0) + 1
      sharedIds.set(taskId, times)
      return times < maxTasksPerId ? undefined : failure(new UnusableAnswer({ detail: reason }))
    },
  }
}
