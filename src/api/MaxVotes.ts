/** Maximum number of votes on each prompt of a task. The service's pages load this file, so it imports nothing. */
export const maxVotes = 25
