/** People may type these flags to set a secret, but the flags do not exist. The values name the variables to use. */
export const secrets: ReadonlyMap<string, string> = new Map([
  ["--token", "PREFSTREAM_TOKEN"],
  ["--webhook-secret", "PREFSTREAM_WEBHOOK_SECRET"],
  ["--judge-api-key", "PREFSTREAM_JUDGE_API_KEY"],
  ["--scores-api-key", "PREFSTREAM_SCORES_API_KEY"],
])
