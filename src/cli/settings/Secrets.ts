/**
 * Maps flags that people may try for secrets to the environment variables to use instead. Secrets are read from the
 * environment only: other users can read a command line, and files are copied and committed.
 */
export const secrets: ReadonlyMap<string, string> = new Map([
  ["--token", "PREFSTREAM_TOKEN"],
  ["--webhook-secret", "PREFSTREAM_WEBHOOK_SECRET"],
  ["--judge-api-key", "PREFSTREAM_JUDGE_API_KEY"],
])
