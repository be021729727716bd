/** Flags that do not exist, but that people may try, and the environment variables to set instead. */
export const secrets: ReadonlyMap<string, string> = new Map([
  ["--token", "PREFSTREAM_TOKEN"],
  ["--webhook-secret", "PREFSTREAM_WEBHOOK_SECRET"],
  ["--judge-api-key", "PREFSTREAM_JUDGE_API_KEY"],
  ["--scores-api-key", "PREFSTREAM_SCORES_API_KEY"],
])
