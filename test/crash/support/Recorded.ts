/** A job at the recording service, with a book of its own there. */
import { accounts, type Job, outcome } from "./Job.ts"
import type { Book, RecordingService } from "./RecordingService.ts"
import { plain, type Room } from "./Room.ts"

export interface Recorded {
  readonly book: Book
  readonly job: Job
}

/** A new job; where `like` is given, as that one and its book stand. */
export const make = (
  { room, service }: { readonly room: Room; readonly service: RecordingService },
  name: string,
  { env = {}, like }: { readonly env?: Record<string, string>; readonly like?: Job } = {},
): Recorded => {
  const token = plain(name)
  return {
    book: service.book(token, like?.env["PREFSTREAM_TOKEN"]),
    job: room.job(name, { ...env, PREFSTREAM_BASE_URL: service.baseUrl, PREFSTREAM_TOKEN: token }, like),
  }
}

/** The tasks of a service by their names, in the order of these. */
export const byName = (tasks: Iterable<readonly [id: string, prompts: ReadonlyArray<string>]>) =>
  [...tasks].toSorted(([a], [b]) => (a < b ? -1 : 1))

/** What the job and its book have come to. */
export const seen = ({ book, job }: Recorded, report: Parameters<typeof accounts>[0]) => ({
  ...outcome(job),
  ...accounts(report),
  service: byName([...book.tasks.values()].map(({ id, prompts }) => [id, prompts] as const)),
})
