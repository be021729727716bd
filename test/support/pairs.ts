/** Preference pairs for tests. */
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"

export const pair = (i: number, members: Partial<PreferencePair> = {}): PreferencePair => ({
  prompt: `Prompt ${i}`,
  chosen: `The better answer to ${i}`,
  rejected: `The worse answer to ${i}`,
  rationale: i % 2 === 0 ? `Because of ${i}` : null,
  item_id: `item-${i}`,
  task_id: `task-${Math.floor(i / 20)}`,
  chosen_index: i % 2,
  rejected_index: (i + 1) % 2,
  chosen_model: i % 5 === 0 ? null : `model ${i % 2}`,
  rejected_model: i % 5 === 0 ? null : `model ${(i + 1) % 2}`,
  weight: 1 / ((i % 3) + 1),
  votes: (i % 3) + 1,
  agreement: i % 3 === 0 ? null : 2 / 3,
  vote_margin: i % 3 === 0 ? null : 1 / 3,
  decided_votes: i % 3 === 0 ? null : (i % 3) + 1,
  strength: i % 4 === 0 ? null : (i % 4) - 0.5,
  all_bad: i % 5 === 0 ? null : false,
  aspects: i % 2 === 0 ? null : `{"helpfulness":{"chosen":${i % 5},"rejected":null}}`,
  edited: `The best answer to ${i}`,
  flags: i % 4 === 1 ? `[{"expert":"expert-${i}","kind":"other"}]` : null,
  metadata: i % 3 === 0 ? `{"row":${i}}` : null,
  ...members,
})

/** Text that one format or reader or another is known to spoil. */
export const difficultTexts = [
  "😀 smile",
  "\uE000 private use, which UTF-16 sorts after emoji",
  "\uFFFD replacement",
  "a\0b",
  "\0",
  "\uFEFFstarts with a byte order mark",
  "\uFEFF",
  "",
  " ",
  "quotes \" ' ` \\ and \\n",
  "lines\nand\r\nlines\rand\u2028lines\u2029end\n",
  '{"a":1}',
  "2024-01-31",
  "01234567-89ab-cdef-0123-456789abcdef",
  "NULL",
  "null",
  "👩‍👩‍👧‍👦 e\u0301 ﷽ \u202Eright to left",
  "\u{10FFFF}\u{10FFFF}\u{10FFFF}\u{10FFFF}\u{10FFFF} the last code point",
]

export const difficultPairs: ReadonlyArray<PreferencePair> = difficultTexts.map((text, i) =>
  pair(i, {
    prompt: text,
    chosen: `${text}!`,
    rejected: text,
    rationale: i % 3 === 0 ? null : text,
    metadata: i % 2 === 0 ? JSON.stringify({ a: 1, text }) : null,
  }),
)
