/**
 * The guide for authors of clients, in Markdown. It introduces the OpenAPI document and the documentation page.
 *
 * Guarantees: it says how the service behaves wherever the contract leaves it open, and gives its limits.
 */
import { Duration, Schema } from "effect"
import { Vote } from "../../domain/Vote.ts"
import { VotedAnnotations } from "../../domain/VotedResult.ts"
import type { RateLimit } from "./RateLimit.ts"
import { maxBodiesPerToken, maxValues } from "./RequestBodies.ts"
import { maxDepth } from "../../io/JsonProblem.ts"
import type { TaskLimits } from "./TaskLimits.ts"

export interface ApiSettings {
  readonly limits: TaskLimits
  readonly rateLimit: RateLimit | undefined
  readonly votes: number
  /** The time limit for receiving a request and answering it. */
  readonly timeout: Duration.Input
  readonly publicUrl?: string | undefined
}

const membersOf = (schema: Schema.Top): string => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the JSON Schema of a struct with descriptions
  const { properties } = Schema.toJsonSchemaDocument(schema).schema as {
    readonly properties: { readonly [name: string]: { readonly type: string; readonly description: string } }
  }
  const rows = Object.entries(properties).map(
    ([name, { description, type }]) => `| \`${name}\` | ${type} | ${description} |`,
  )
  return ["| member | | |", "| --- | --- | --- |", ...rows].join("\n")
}

const count = (n: number) => n.toLocaleString("en-US")

const limitsOf = ({ limits, rateLimit, timeout }: ApiSettings) => `
| limit | | beyond it |
| --- | --- | --- |
| request body | ${count(limits.bodyBytes)} bytes | 413 \`body-too-large\` |
| JSON values in a request | ${count(maxValues(limits))} | 422 \`unprocessable-task\` |
| prompts in a task | 1 to ${count(limits.promptsPerTask)} | 422 \`unprocessable-task\` |
| completions of a prompt | 2 to ${limits.completionsPerPrompt} | 422 |
| a prompt | ${count(limits.promptCharacters)} characters, not blank | 422 |
| a completion | ${count(limits.completionCharacters)} characters | 422 |
| guidelines | ${count(limits.guidelinesCharacters)} characters | 422 |
| \`metadata\` | ${maxDepth} levels of nesting, numbers up to 2^53 | 422 |
| time for a request to arrive | ${count(Duration.toSeconds(timeout))} seconds | 408 \`request-timed-out\` |

Characters are counted as UTF-16 code units, as JavaScript counts them. Text with a lone surrogate (\`"\\ud800"\`) is refused with 422. Control characters are refused in \`group\`. A 422 names in \`errors\` each place (the first 100), the limit, and what was found; a 400 the first place.

${
  rateLimit === undefined
    ? "This service does not limit how many requests a token sends."
    : `**Rate limit**: each token may send ${count(rateLimit.burst)} requests at once, and ${count(rateLimit.perSecond)} a second over time. Answers carry \`RateLimit-Policy: "default";q=${rateLimit.burst};w=…\` (the quota, and the seconds in which it is restored) and \`RateLimit: "default";r=…;t=…\` (requests left, and the seconds until all are back), by draft-ietf-httpapi-ratelimit-headers. Beyond it the answer is 429 \`too-many-requests\` with \`Retry-After\` in seconds.`
}

**Concurrent bodies**: for each token, requests with up to ${count(maxBodiesPerToken * limits.bodyBytes)} bytes in all are read at once. Further requests wait, and after 15 seconds are answered 429 with \`Retry-After\`.
`

const problems = `
Every answer other than 2xx is \`application/problem+json\` (RFC 9457): \`type\`, \`title\`, \`status\`, \`detail\`, sometimes \`errors\` (an array of \`path\` and \`message\`). Decide by \`type\`, which stays the same; \`detail\` is for people.

| status | type: \`tag:prefstream,2026:\`… | means | again? |
| --- | --- | --- | --- |
| 400 | \`malformed-request\` | not JSON, or not in the shape that is asked for | no |
| 401 | \`unauthorized\` | no token, or one that is unknown, revoked or expired | no |
| 403 | \`forbidden\` | the service is not reached under the name in \`Host\` | no |
| 404 | \`task-not-found\`, \`endpoint-not-found\` | | no |
| 405 | \`method-not-allowed\` | \`Allow\` says which methods the address takes | no |
| 408 | \`request-timed-out\` | the request did not arrive in time | yes |
| 413 | \`body-too-large\` | send smaller tasks; \`limit_bytes\` says how small | no |
| 415 | \`unsupported-media-type\` | send \`application/json\`, in UTF-8 | no |
| 417 | \`expectation-failed\` | \`Expect\` is for \`100-continue\` only | no |
| 422 | \`unprocessable-task\` | another task type, or beyond a limit | no |
| 422 | \`idempotency-key-reused\` | the key belongs to another body | no |
| 431 | \`headers-too-large\` | | no |
| 429 | \`too-many-requests\` | after \`Retry-After\` | yes |
| 500 | \`service-failure\` | what happened is in the service's log | yes |
| 503 | \`service-unavailable\` | the service is starting or stopping: after \`Retry-After\` | yes |
| 503 | \`service-too-slow\` | no answer in time | yes |

Send a POST again only with an \`Idempotency-Key\`.
`

export const guide = (decided: ApiSettings): string => `
Send prompts with candidate completions to human experts, and read back which one they prefer.

## Authentication

Every request carries \`Authorization: Bearer <ORGANIZATION_TOKEN>\`. Tokens (\`pst_…\`) are made, rotated and revoked in the dashboard, under the developer settings. After a rotation the old token is accepted for as long as was asked for.

## Tasks

\`POST /tasks\` answers **201** with \`task_id\` (of the form \`task_…\`), \`status\`, and the task's path in \`Location\`. The task is stored durably by then. The one \`task_type\` is \`rlhf_ranking\`; another is a 422 that lists what is supported.

**Members.** Unknown members are ignored and listed in \`warnings\` of the answer (\`path\` and \`message\`): a misspelled \`vote\`, for example. \`metadata\`, a JSON object of your own in the request and in each of its prompts, is returned in the result as you sent it; experts do not see it.

**Idempotency.** Send an \`Idempotency-Key\` (1 to 255 characters) of your own for each task. The same key with the same body, byte for byte, answers 201 again with the task that exists, as it stands now; with another body it is a 422. A key is remembered as long as the task, for your organization only.

**States.** \`pending\` → \`in_progress\` (an expert has begun) → \`completed\`. When the last vote is a person's, the task stays \`in_progress\` for a while (30 seconds by default), in which the vote can be taken back. A task that the service's operator cancels, or that nobody can answer, is \`cancelled\` and gets no results. \`cancelled\` is final, and so is \`completed\`, but for changed results (see Webhooks). The operator may pause a group: its tasks wait as they are. \`GET /tasks/{task_id}\` answers 200 in each state; \`results\` is there once the task is completed: one item per prompt, in the order of the prompts.

**Votes.** \`votes\` (1 to 25; ${decided.votes} where the task does not say) is how many experts judge each prompt. No expert judges a prompt twice.

**Groups.** Tasks with the same \`group\` (1 to 255 characters) complete together: one webhook announces them when all are completed or cancelled. If tasks are created over some time, give \`group_size\`, the number of tasks that the group will have: the group is complete when all of them have ended, and is announced at once. A group without a size is announced when it has been complete for 2 seconds without a new task; if it gets tasks after that, it is announced again, with all its tasks. A task without a group is a group of its own, with the task's id.

## Results

\`best_completion_index\` is the zero-based index of the preferred completion in that prompt's \`completions\`. It comes from the votes, which are counted by text (completions of the same text are one choice, ranked where the best of them is):

1. Each vote gives one first-choice vote to its choice; a vote that ranks several completions together at the top gives each an equal part of it. The completion with the most is best.
2. Of several that have the most, the one with the highest mean Borda score is best, over the votes that rank: of *m* completions the one at rank *r* scores *m* − *r*, and completions ranked together share the mean of their ranks.
3. Of several that are equal in this too, the one that the earliest vote chose; last, the one with the lowest index.

\`annotations\` holds:

${membersOf(VotedAnnotations)}

Each of \`votes\`:

${membersOf(Vote)}

What the rubric asks for is \`strength\`, \`all_bad\`, \`edited\`, \`aspects\` and \`flags\`. Of a prompt, \`strength\` is the mean over the votes for the best that say so, \`all_bad\` whether more than half of the votes say so, \`edited\` that of the earliest vote for the best that has one, and \`aspects\` has mean ratings. More members may come: ignore those that you do not know.

## Votes as a table

\`GET /votes\` streams the organization's votes, one record per vote, by task, prompt, and time: JSON Lines, or \`format=csv\`. \`group\`, \`task\` and \`expert\` narrow it. The columns are those of \`prefstream export-votes\`, and \`prefstream import\` reads the table. In CSV, a text that a spreadsheet would take for a formula begins with an apostrophe; \`raw=true\` leaves texts as they are. \`item_id\` and \`models\` are null, since the service does not know them. Void votes are left out. An answer that breaks off before its end (in chunked encoding) is incomplete: ask again.

## Rubrics

Experts choose, or rank. A \`rubric\` in the front matter of the \`guidelines\` asks for more, all of it optional for them:

\`\`\`
---
rubric:
  strength: true # slightly, clearly, much better: 1 to 3; or up to nine labels, the weakest first
  all_bad: true # whether not even the best is good enough
  edit: true # the best, improved
  flags: [unsafe, unclear prompt]
  aspects: [helpfulness, { name: truthfulness, steps: 3, low: wrong, high: right }] # 1 to 5, or to \`steps\`
---
Prefer the answer that …
\`\`\`

## Webhooks

Set a URL in the dashboard's developer settings. When a group is complete, the service sends a \`POST\` there by [Standard Webhooks 1.0.0](https://www.standardwebhooks.com): see \`task_group.completed\` below. Answer 2xx within 15 seconds, and fetch the tasks: the event carries their ids only.

- **Changed results.** A lead may decide a prompt that experts disagree on, or votes may be declared void, after a task was completed. A lead may also withdraw a prompt, or ask for more votes on it. The result is then replaced, and \`task_group.completed\` is sent once more with the tasks that changed: fetch them again, and replace what you have. Where a prompt has no valid vote left, the task is \`in_progress\` again, without results, and \`task_group.reopened\` says so; its completion is announced as always.
- **Signature.** \`webhook-signature\` is one or several of \`v1,<base64>\`, separated by spaces: the HMAC-SHA256 of \`<webhook-id>.<webhook-timestamp>.<body>\` under each secret that is valid. A secret is \`whsec_\` and the key in base64. Accept the event if one of them matches, compared in constant time, and if \`webhook-timestamp\` (seconds) is within five minutes of now. While a secret is rotated, both sign.
- **Delivery.** At least once, in no particular order: \`webhook-id\` is the same for each attempt. An attempt fails with any answer but 2xx (redirects are not followed) and is made again over three days: after 5 seconds, 5 and 30 minutes, then after hours, with some jitter; \`Retry-After\` is honored. 410 disables the webhook. An event can be resent by hand, in the delivery log.

## Limits
${limitsOf(decided)}
## Problems
${problems}
## Versions

The version is in the path: \`/v1\`. Within it, members are added and none is removed or changes its meaning.
`
