/** Shell commands that send a first task to this service. */

const task = {
  task_type: "rlhf_ranking",
  prompts: [
    {
      prompt: "What is the capital of Australia?",
      completions: ["Canberra.", "Sydney is the capital of Australia."],
    },
  ],
  guidelines: "Prefer the completion that is correct.",
}

export const exportLines = (origin: string): string =>
  `export PREFSTREAM_BASE_URL=${origin}/v1\nexport PREFSTREAM_TOKEN=…`

export const curlLines = `curl "$PREFSTREAM_BASE_URL/tasks" \\
  -H "Authorization: Bearer $PREFSTREAM_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(task, null, 2)}'`

export const runLines = (origin: string): string =>
  `npx prefstream run items.jsonl --base-url ${origin}/v1 --dir first-job`
