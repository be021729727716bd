/**
 * The files that the guides in `docs/moving-in` start from: what the guides show of them, and a record that nobody has
 * answered. Each has the members that the tool writes.
 */
import { readFileSync } from "node:fs"
import { root } from "../support/process.ts"

/** The block of a guide that is in this language and the first of it. */
const blockOf = (guide: string, language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "m").exec(
    readFileSync(`${root}docs/moving-in/${guide}.md`, "utf8"),
  )?.[1] ?? ""

interface Task {
  readonly id: number
  readonly data: Readonly<Record<string, string>>
  readonly annotations: ReadonlyArray<object>
}

/** https://labelstud.io/guide/task_format, and what a project's export adds */
const labelStudioTask = (task: Task) => ({
  ...task,
  annotations: task.annotations.map((annotation) => ({
    ground_truth: false,
    created_at: "2026-09-04T18:50:53.017134Z",
    updated_at: "2026-09-04T18:50:53.017151Z",
    prediction: {},
    result_count: 0,
    task: task.id,
    project: 1,
    parent_prediction: null,
    ...annotation,
  })),
  file_upload: "d06c405d-items.json",
  drafts: [],
  predictions: [],
  meta: {},
  created_at: "2026-09-04T18:00:00.000000Z",
  updated_at: "2026-09-05T18:50:53.000000Z",
  inner_id: task.id,
  total_annotations: task.annotations.length,
  cancelled_annotations: 0,
  total_predictions: 0,
  comment_count: 0,
  last_comment_updated_at: null,
  project: 1,
  updated_by: 1,
  comment_authors: [],
})

const shownTask = JSON.parse(blockOf("label-studio", "json")) as Task
const skipped = { id: 12, completed_by: 2, was_cancelled: true, lead_time: 1, result: [] }

export const labelStudio = [
  labelStudioTask({ ...shownTask, annotations: [...shownTask.annotations, skipped] }),
  labelStudioTask({ id: 2, data: { prompt: "What is 2 + 2?", answer1: "22.", answer2: "4." }, annotations: [] }),
]

const shownRecord = JSON.parse(blockOf("argilla", "json")) as object

export const argilla = [
  shownRecord,
  {
    ...shownRecord,
    id: "q2",
    fields: { prompt: "What is 2 + 2?", response_1: "22.", response_2: "4." },
    responses: {},
    _server_id: "9f0c2c3e-2222-4c5e-9d5f-0a1b2c3d4e5f",
  },
]

export const sheet = blockOf("spreadsheet", "")
