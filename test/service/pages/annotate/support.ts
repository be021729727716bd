import type { HeldItem, Progress, Work } from "../../../../src/service/pageApi/AnnotateApi.ts"

export const item = (id: number, completions = 2, more: Partial<HeldItem> = {}): HeldItem => ({
  item_id: id,
  guidelines: null,
  guidelines_version: 1,
  guidelines_change: null,
  rubric: { strength: [], all_bad: false, flags: [], edit: false, aspects: [], required: [] },
  prompt: `prompt ${id}`,
  turns: null,
  completion_turns: [],
  completions: Array.from({ length: completions }, (_, index) => `completion ${index}`),
  draft: null,
  undone: false,
  corrects: null,
  qualification: false,
  held_until: 1_000_000 + 1_800_000,
  task: { task_id: "task_1", prompts: 10, judged: id - 1, number: id },
  ...more,
})

export const progress = (judged: number, more: Partial<Progress> = {}): Progress => ({
  judged,
  judged_today: judged,
  needed: 100,
  undoable: judged > 0,
  stopped: null,
  ...more,
})

export const work = (held: HeldItem | null, judged = 0, more: Partial<Progress> = {}): Work => ({
  item: held,
  progress: progress(judged, more),
})
