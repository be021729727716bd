/** The guide for authors of clients, in Markdown: all behavior that the contract does not define, and the limits. */
import { Duration, Schema } from "effect"
import * as Assessment from "../../domain/Assessment.ts"
import { Vote } from "../../domain/Vote.ts"
import { VotedAnnotations } from "../../domain/VotedResult.ts"
import type { RateLimit } from "./RateLimit.ts"
import { maxBodiesPerToken, maxValues } from "./ConcurrentBodies.ts"
import { maxDepth } from "../../io/JsonProblem.ts"
import type { RequestLimits } from "./RequestLimits.ts"

export interface ApiSettings {
  readonly limits: RequestLimits
  readonly rateLimit: RateLimit | undefined
  readonly votes: number
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
| limit | value | if exceeded |
| --- | --- | --- |
| request body | ${count(limits.bodyBytes)} bytes | 413 \`body-too-large\` |
| JSON values in a request | ${count(maxValues(limits))} | 422 \`unprocessable-task\` |
| prompts per task | 1 to ${count(limits.promptsPerTask)} | 422 \`unprocessable-task\` |
| completions per prompt | 2 to ${limits.completionsPerPrompt} | 422 |
| a prompt | ${count(limits.promptCharacters)} characters, not blank | 422 |
| a completion | ${count(limits.completionCharacters)} characters | 422 |
| guidelines | ${count(limits.guidelinesCharacters)} characters | 422 |
| \`metadata\` | ${maxDepth} levels of nesting, numbers up to 2^53 | 422 |
| time for a request to arrive | ${count(Duration.toSeconds(timeout))} seconds | 408 \`request-timed-out\` |

Characters in prompts, completions, and guidelines are counted as Unicode code points. Text with a lone surrogate (\`"\\ud800"\`) is refused with 422, and so are control characters in \`group\`. For a 422, \`errors\` lists the problems found (at most 100), each with its path, the limit, and the value; for a 400, only the first problem.

${
  rateLimit === undefined
    ? "This service has no rate limit."
    : `**Rate limit**: each token may send ${count(rateLimit.burst)} requests in a burst, and ${count(rateLimit.perSecond)} requests per second on average. Answers have two headers (draft-ietf-httpapi-ratelimit-headers). \`RateLimit-Policy: "default";q=${rateLimit.burst};w=…\` states the limit: you can send at most \`q\` requests in a burst, and another \`q\` requests \`w\` seconds later. \`RateLimit: "default";r=…;t=…\` states what is left: you can send \`r\` requests now. If you wait \`t\` seconds, you can send \`q\` requests. A request beyond the limit gets 429 \`too-many-requests\` with \`Retry-After\` in seconds.`
}

**Concurrent bodies**: the service reads request bodies of up to ${count(maxBodiesPerToken * limits.bodyBytes)} bytes in total per token at the same time. Further requests wait up to 15 seconds and then get 429 with \`Retry-After\`.
`

const problems = `
Every answer other than 2xx is \`application/problem+json\` (RFC 9457) with \`type\`, \`title\`, \`status\`, \`detail\`, and sometimes \`errors\` (an array of objects with \`path\` and \`message\`). Handle problems by \`type\`, which never changes; \`detail\` is for people.

| status | type: \`tag:prefstream,2026:\`… | meaning | retry? |
| --- | --- | --- | --- |
| 400 | \`malformed-request\` | not JSON, or a member is missing or has the wrong type | no |
| 401 | \`unauthorized\` | the token is missing, unknown, revoked, or expired | no |
| 403 | \`forbidden\` | the \`Host\` header does not name this service | no |
| 404 | \`task-not-found\`, \`endpoint-not-found\` | | no |
| 405 | \`method-not-allowed\` | \`Allow\` lists the supported methods | no |
| 408 | \`request-timed-out\` | the request did not arrive in time | yes |
| 413 | \`body-too-large\` | send smaller tasks; \`limit_bytes\` is the limit | no |
| 415 | \`unsupported-media-type\` | send \`application/json\`, in UTF-8 | no |
| 417 | \`expectation-failed\` | \`Expect\` may only be \`100-continue\` | no |
| 422 | \`unprocessable-task\` | an unsupported task type, or a value that is invalid or exceeds a limit | no |
| 422 | \`idempotency-key-reused\` | the key was used with another body | no |
| 431 | \`headers-too-large\` | | no |
| 429 | \`too-many-requests\` | wait the number of seconds in \`Retry-After\` | yes |
| 500 | \`service-failure\` | see the service's log | yes |
| 503 | \`service-unavailable\` | the service is starting, stopping, or busy, or its disk is full; wait the number of seconds in \`Retry-After\` | yes |
| 503 | \`service-too-slow\` | no answer in time | yes |

Retry a \`POST\` only with an \`Idempotency-Key\`.
`

export const guide = (decided: ApiSettings): string => `
Send prompts with candidate completions to human experts, and read back which one they prefer.

## Authentication

Send \`Authorization: Bearer <ORGANIZATION_TOKEN>\` with every request. Create, rotate, and revoke tokens (\`pst_…\`) in the dashboard's developer settings. After a rotation, the old token is accepted for the time chosen there.

## Tasks

\`POST /tasks\` answers **201** with \`task_id\` (of the form \`task_…\`), \`status\`, and the task's path in \`Location\`. By then the task is stored durably. The only \`task_type\` is \`rlhf_ranking\`. For another type, the answer is a 422 that lists the supported types.

**Members.** The service ignores unknown members, such as a misspelled \`vote\`, and lists them in the answer's \`warnings\` (\`path\` and \`message\`). \`metadata\` is any JSON object, in the request and in each prompt. The result returns it unchanged; experts do not see it.

**Idempotency.** Send a different \`Idempotency-Key\` (1 to 255 characters) for each task. If you repeat a key with the same body, byte for byte, the answer is 201 with the existing task in its current state. With another body, the answer is 422. A key belongs to your organization and is remembered as long as the task.

**States.** \`pending\` → \`in_progress\` (an expert has started) → \`completed\`. If a person gave the last vote, the task stays \`in_progress\` for a while (30 seconds by default), so that the person can take the vote back. If an operator cancels a task, it stays \`cancelled\`. If no expert can answer a task, it is \`cancelled\` until the service restarts. A \`cancelled\` task has no results. If its results change, a \`completed\` task gets new results, or is \`in_progress\` again (see Webhooks). An operator can pause a group; its tasks then wait. If everybody who may judge a prompt has judged it or an equal prompt in the same group, its votes wait for another expert: \`waiting_prompts\` is the number of such prompts. \`GET /tasks/{task_id}\` answers 200 in every state. A completed task has \`results\`: one item per prompt, in the order of the prompts.

**Votes.** \`votes\` (1 to 25, default ${decided.votes}) is the number of experts who judge each prompt. No expert judges a prompt of a task twice.

**Groups.** Tasks with the same \`group\` (1 to 255 characters) are announced together: the service sends one webhook when all of them are completed or cancelled. If you create the tasks over some time, set \`group_size\`, the number of tasks that the group will have. The group is complete when all of these tasks have ended, and is announced immediately. A group without a size is announced when it has been complete for 2 seconds without a new task. If it gets tasks after that, it is announced again, with all its tasks. A task without a group forms its own group, whose id is the task's id.

## Results

\`best_completion_index\` is the zero-based index of the preferred completion in that prompt's \`completions\`. Votes are counted by text: completions with the same text are one choice, with the rank of the best of them.

1. Each vote gives one first-choice vote to its choice. A vote that ranks several completions together at the top gives each an equal share. The completion with the most first-choice votes is best.
2. If several completions have the most first-choice votes, the one with the highest mean Borda score is best. Only votes with a ranking have a score: of *m* completions, the one at rank *r* scores *m* − *r*, and completions ranked together share the mean of their ranks.
3. If several completions are still equal, the one that the earliest vote chose is best, and otherwise the one with the lowest index.

\`annotations\` has these members:

${membersOf(VotedAnnotations)}

Each vote in \`votes\` has these members:

${membersOf(Vote)}

Besides its choice, a vote can have ${Assessment.names.map((name) => `\`${name}\``).join(", ")}, and \`flags\`. In a prompt's annotations, ${Assessment.names.map((name) => `\`${name}\` ${Assessment.combined[name]}.`).join(" ")} Ignore members that you do not know, because later versions may add some.

## Votes as a table

\`GET /votes\` streams the organization's votes, one record per vote, ordered by task, prompt, and time. The format is JSON Lines, or CSV with \`format=csv\`. \`group\`, \`task\`, and \`expert\` filter the votes. The columns are those of \`prefstream export-votes\`, and \`prefstream import\` reads the table. In CSV, a text that a spreadsheet would run as a formula gets a leading apostrophe; \`raw=true\` leaves texts unchanged. \`item_id\` and \`models\` are null, because the service does not know them. Void votes are left out. If the chunked answer ends early, it is incomplete: send the request again.

## Rubrics

Experts choose the best completion or rank all completions. A \`rubric\` in the front matter of the \`guidelines\` adds questions, which experts may leave unanswered:

\`\`\`
---
rubric:
  strength: true # slightly, clearly, much better: 1 to 3; or up to nine labels, the weakest first
  all_bad: true # whether not even the best is good enough
  edit: true # an improved version of the best completion
  flags: [unsafe, unclear prompt]
  aspects: [helpfulness, { name: truthfulness, steps: 3, low: wrong, high: right }] # 1 to 5, or to \`steps\`
---
Prefer the answer that …
\`\`\`

## Webhooks

Set a URL in the dashboard's developer settings. When a group is complete, the service sends a \`POST\` to this URL, following [Standard Webhooks 1.0.0](https://www.standardwebhooks.com): see \`task_group.completed\` below. Answer 2xx within 15 seconds, and fetch the tasks: the event has only their ids.

- **Changed results.** After a task is completed, a lead may decide a prompt on which experts disagree, withdraw a prompt, void votes, or ask for more votes. The service then replaces the result and sends \`task_group.completed\` again with the tasks that changed: fetch them again, and replace your copies. If a prompt has no valid vote left, the task is \`in_progress\` again, without results, and the service sends \`task_group.reopened\`. When the task is completed again, the service announces it as usual.
- **Signature.** \`webhook-signature\` has one or more signatures \`v1,<base64>\`, separated by spaces. Each is the HMAC-SHA256 of \`<webhook-id>.<webhook-timestamp>.<body>\` under one valid secret. A secret is \`whsec_\` followed by the key in base64. Accept the event if one signature matches (compare in constant time) and if \`webhook-timestamp\` (in seconds) is within five minutes of your clock. During a rotation, the old and the new secret both sign.
- **Delivery.** The service delivers each event at least once, in no particular order. \`webhook-id\` is the same for each attempt. An attempt fails if the answer is not 2xx; redirects are not followed. The service retries for three days: after 5 seconds, 5 minutes, 30 minutes, and then after hours, with some jitter. It honors \`Retry-After\`. An answer of 410 disables the webhook. You can resend an event in the dashboard's delivery log.

## Limits
${limitsOf(decided)}
## Problems
${problems}
## Versions

The path has the version: \`/v1\`. Within a version, members may be added, but none is removed or changes its meaning.
`
