/**
 * The commit points: every kind of change that a job makes to its ledger, its folder or the
 * service, by the event's name in `killAt.ts`.
 *
 * An event that is not in these tables fails the suite: a new kind of write needs
 * a name here, and a story in which a process is killed at it.
 */
import { randomInt } from "node:crypto"
import { assert } from "vitest"
import { allCases, crashShares } from "../../support/cases.ts"
import type { Moment } from "../fixtures/killAt.ts"
import type { Trace } from "./Job.ts"

/** What a process does, and in which state it finds the job. */
export type Story =
  | "run"
  | "alone"
  | "again"
  | "resume"
  | "collect"
  | "export"
  | "submit"
  | "doubt"
  | "replan"
  | "resolve"
  | "listen"
  | "overtaken"

interface Point {
  /** The command, and what it is doing. */
  readonly name: string
  /** The stories in which a process is killed at it. */
  readonly in: ReadonlyArray<Story>
}

export const points = {
  // open
  "file: create ledger.db": { name: "open: the ledger's file is created", in: ["run"] },
  "job: added": { name: "open: the job gets its number", in: ["run"] },
  "prefstream_migration: added": { name: "open: the ledger's tables are created", in: ["run"] },
  "setting: added": { name: "open: the ledger gets a key for pseudonyms, or is bound to its service", in: ["run"] },
  "file: sync ledger.db-wal": { name: "commit: the log is synced", in: ["run"] },
  // submit
  "run: added": { name: "submit: a run is started", in: ["run", "submit"] },
  "task: added planned": { name: "submit: tasks are planned", in: ["run", "submit"] },
  "reject: added": { name: "submit: records are refused", in: ["run"] },
  "known: added": { name: "submit: known items are read again", in: ["again"] },
  "run: read_finished": { name: "submit: the input is read to its end", in: ["run", "submit"] },
  "task: planned → submitting": { name: "submit: a task is claimed", in: ["alone", "run", "submit"] },
  "http: POST /tasks": { name: "submit: a task is sent", in: ["run", "submit"] },
  "http: POST /tasks answered 201": { name: "submit: a task was created", in: ["alone", "run", "submit"] },
  "task: submitting → submitted": { name: "submit: a task's id is recorded", in: ["run", "submit"] },
  "http: POST /tasks answered 200": { name: "submit: a task existed already", in: ["resume"] },
  "http: POST /tasks answered 413": { name: "submit: a task was too large", in: ["run"] },
  "task: halved": { name: "submit: a task is halved", in: ["run", "submit"] },
  "http: POST /tasks answered 422": { name: "submit: a task was refused", in: ["run", "submit"] },
  "task: submitting → refused": { name: "submit: a refusal is recorded", in: ["run"] },
  "task: submitting → planned": { name: "submit: an interrupted task is planned again", in: ["resume"] },
  "task: submitting → in_doubt": { name: "submit: an interrupted task is held in doubt", in: ["doubt"] },
  "task: failed → planned": { name: "submit: failed tasks are planned again", in: ["replan"] },
  "task: invalid → planned": { name: "submit: tasks whose results did not fit are planned again", in: ["replan"] },
  // resolve
  "task: in_doubt → submitted": { name: "resolve: a task is adopted", in: ["resolve"] },
  "task: in_doubt → planned": { name: "resolve: a task is planned again", in: ["resolve"] },
  "task: in_doubt → given_up": { name: "resolve: a task is given up", in: ["resolve"] },
  // collect
  "task: completed_at, due_at": { name: "collect: a result that still does not fit is recorded", in: ["again"] },
  "http: GET /tasks/ID": { name: "collect: a task is polled", in: ["collect"] },
  "http: GET /tasks/ID answered 200": { name: "collect: a poll was answered", in: ["collect"] },
  "task: due_at": {
    name: "collect: the next poll is scheduled",
    in: ["collect", "again"],
  },
  "task: submitted → completed": { name: "collect: a result is recorded", in: ["alone", "run", "collect"] },
  "task: submitted → invalid": { name: "collect: a result that does not fit is recorded", in: ["collect"] },
  "task: submitted → failed": { name: "collect: a failure is recorded", in: ["collect"] },
  // receive
  "delivery: added": { name: "receive: a delivery is recorded", in: ["listen"] },
  "hint: added": { name: "receive: a hint is kept for an unknown task", in: ["overtaken"] },
  "http: answer /webhook 204": { name: "receive: a delivery is answered", in: ["listen"] },
  // rejects
  "file: create rejects.jsonl.partial": { name: "rejects: the partial file is created", in: ["run"] },
  "file: write rejects.jsonl.partial": { name: "rejects: records are written", in: ["run"] },
  "file: sync rejects.jsonl.partial": { name: "rejects: the file is synced", in: ["run"] },
  "file: rename rejects.jsonl.partial to rejects.jsonl": {
    name: "rejects: the file is renamed into place",
    in: ["again"],
  },
  // settings
  "file: create settings.yaml.partial": { name: "settings: the partial file is created", in: ["run"] },
  "file: write settings.yaml.partial": { name: "settings: what was given is written", in: ["run"] },
  "file: sync settings.yaml.partial": { name: "settings: the file is synced", in: ["run"] },
  "file: rename settings.yaml.partial to settings.yaml": {
    name: "settings: the file is renamed into place",
    in: ["run", "again"],
  },
  // export
  "file: make .dataset.partial": { name: "export: the partial folder is created", in: ["export"] },
  "file: write .dataset.partial/next/data/train-00000-of-00001.parquet": {
    name: "export: Parquet is written",
    in: ["export"],
  },
  "file: write .dataset.partial/next/jsonl/train-00000-of-00001.jsonl": {
    name: "export: JSON Lines are written",
    in: ["run", "export"],
  },
  "file: sync .dataset.partial/next/jsonl/train-00000-of-00001.jsonl": {
    name: "export: JSON Lines are synced",
    in: ["export"],
  },
  "file: write .dataset.partial/next/manifest.json": { name: "export: the manifest is written", in: ["export"] },
  "file: sync .dataset.partial/next/manifest.json": { name: "export: the manifest is synced", in: ["export"] },
  "file: rename dataset to .dataset.partial/previous": {
    name: "export: the older dataset is moved aside",
    in: ["export", "again"],
  },
  "file: rename .dataset.partial/next to dataset": {
    name: "export: the dataset is renamed into place",
    in: ["run", "export"],
  },
  "file: remove .dataset.partial": { name: "export: the partial folder is removed", in: ["export"] },
} as const satisfies Record<string, Point>

export type Event = keyof typeof points

/** The share of the points that is tried by default. It is drawn for each run, unless `CRASH_SHARE` sets it. */
export const share = Number(process.env["CRASH_SHARE"] ?? randomInt(crashShares))

/** Where a process is killed in a story: by default, at a share of the points, each in its first story alone. */
export const pointsIn = (story: Story): ReadonlyArray<Event> =>
  (Object.entries(points) as ReadonlyArray<readonly [Event, Point]>).flatMap(([event, point], i) =>
    (allCases ? point.in.includes(story) : i % crashShares === share && point.in[0] === story) ? [event] : [],
  )

/** Changes that happen only together with one of the named points, in the same transaction. */
export const together: Readonly<Record<string, ReadonlyArray<Event>>> = {
  "item: added": ["task: added planned"],
  "task_request: added": ["task: added planned"],
  "campaign: added": ["run: added"],
  "campaign: task_group": ["run: added"],
  "price_list: added": ["run: added"],
  "known: removed": ["known: added"],
  "task_request: expected, items, body": ["task: halved"],
  "task_attempt: added": ["task: failed → planned", "task: invalid → planned", "task: in_doubt → given_up"],
  "task_result: added": ["task: submitted → completed", "task: submitted → invalid"],
  "task_result: body": ["task: submitted → completed", "task: submitted → invalid"],
}

/** Events without a point of their own, and why. */
export const unnamed: ReadonlyArray<readonly [event: RegExp, why: string]> = [
  [/^run: counts$/, "counts are written together with what they count; the accounts are checked after each kill"],
  [/^setting: value$/, "a setting is written together with what it counts, or repeats its value"],
  [/^http: GET \/v1\/openapi\.json/, "the service's document is only read"],
  [/^hint: (?!added)/, "a hint is written together with its delivery, or with the tasks that it makes due"],
  [/^run: ended_at$/, "nothing depends on when a run ended"],
  [
    /^file: (make|create|write|sync|remove) (\.|(ledger|service)\.db\.lock(\.json)?)$/,
    "the lock is the operating system's",
  ],
  [/^file: create ledger\.db-wal$/, "SQLite created it: it is opened to be synced"],
  [/^file: (create service\.db|(create|sync) service\.db-wal)$/, "the service's store has its own tests"],
  [/^file: \w+ \.dataset\.partial\/writer\.lock(\.json)?$/, "the same for the lock of an export"],
  [/^file: remove \.dataset\.partial\/previous\//, "the older dataset is removed with its folder"],
  [/^file: (make|create) \.dataset\.partial\/next/, "the partial folder is removed as a whole"],
  [/^file: sync \.dataset\.partial\/next\/data\//, "as with JSON Lines"],
  [/^file: (write|sync) \.dataset\.partial\/next\/(README\.md|report\.(html|json))$/, "as with the manifest"],
  [/^file: (create|write|sync) export\.json$/, "a note that is missing or incomplete makes the next export write"],
  [/^task: (due_at, )?waiting_items$/, "only status reads it"],
  [/^file: (create|write|remove) group\.txt$/, "only the message about a lost ledger reads it"],
  [/^file: remove refused$/, "the report on a refused dataset is obsolete once a dataset is written"],
  [
    /^input: (added|run)$/,
    "manifest and rejects.jsonl name files that were read to their end, and the next run records them again",
  ],
]

/** Events of a trace that have no name, and changes that were committed alone though they belong together. */
export const unexpected = ({ lines, totals }: Trace): ReadonlyArray<string> => [
  ...[...totals.keys()].filter(
    (event) => !(event in points) && !(event in together) && !unnamed.some(([pattern]) => pattern.test(event)),
  ),
  ...lines.flatMap((line) =>
    Object.entries(together)
      .filter(([event, leads]) => event in line && !leads.some((lead) => lead in line))
      .map(([event]) => `${event}, alone: ${JSON.stringify(line)}`),
  ),
]

/** The first time that it happens: halfway of what is written bit by bit, and after it. */
export const firstMoments = (event: Event): ReadonlyArray<Moment> => {
  const whens: ReadonlyArray<Moment["when"]> = event.startsWith("file: write") ? ["halfway", "after"] : ["after"]
  return whens.map((when) => ({ event, when: event === "http: POST /tasks" ? "before" : when, nth: 1 }))
}

/** The moments at which a job is killed for one kind of event: at its first occurrence, and at a later one. */
export const momentsOf = (event: Event, { totals }: Trace): ReadonlyArray<Moment> => {
  const total = totals.get(event) ?? 0
  assert.isAbove(total, 0, `the undisturbed job never reaches it: ${points[event].name}`)
  const moment = (when: Moment["when"], nth: number): Moment => ({ event, when, nth })
  const later = Math.ceil((total * 2) / 3)
  // The moment before an answer is the moment after its request.
  if (event.startsWith("http:")) {
    const when = event.includes("answered") ? "after" : "before"
    return [moment(when, 1), ...(total > 2 ? [moment(when, later)] : [])]
  }
  const written = event.startsWith("file: write") ? [moment("halfway", 1)] : []
  // The state before one point is the state after another, so only CI draws this case.
  const before = allCases ? [moment("before", 1)] : []
  return [...before, ...written, moment("after", later)]
}
