/**
 * Maps flags that people may try for secrets to the environment variables to use instead. Secrets are read only from
 * the environment: other users can read a command line, and people copy and commit files.
 */
export const secrets: ReadonlyMap<string, string> = new Map([
  ["--token", "PREFSTREAM_TOKEN"],
  ["--webhook-secret", "PREFSTREAM_WEBHOOK_SECRET"],
  ["--judge-api-key", "PREFSTREAM_JUDGE_API_KEY"],
  ["--scores-api-key", "PREFSTREAM_SCORES_API_KEY"],
])
