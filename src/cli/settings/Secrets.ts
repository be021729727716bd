/** Flags that people may try for secrets, with the variables to use instead. */
export const secrets: ReadonlyMap<string, string> = new Map([
  ["--token", "PREFSTREAM_TOKEN"],
  ["--webhook-secret", "PREFSTREAM_WEBHOOK_SECRET"],
  ["--judge-api-key", "PREFSTREAM_JUDGE_API_KEY"],
  ["--scores-api-key", "PREFSTREAM_SCORES_API_KEY"],
])
