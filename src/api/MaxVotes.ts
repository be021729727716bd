/** Maximum votes per prompt of a task. Pages of the service load this file, so it imports nothing. */
export const maxVotes = 25
