/** Names of fields that usually contain votes, the most likely name first. The form is that of `KnownNames.plain`. */
export const voteNames = {
  choice: [
    "chosen_index", "best_completion_index", "choice", "vote", "preference", "preferred", "winner", "label", "best",
    "best_response", "best_completion", "better_response_id", "overall_preference", "preference_label", "preferred_response",
    "selected", "judgment", "judgement", "verdict",
  ],
  expert: [
    "expert", "expert_id", "annotator", "annotator_id", "worker", "worker_id", "rater", "rater_id", "labeler", "labeler_id",
    "judge", "judge_id", "user_id", "user", "reviewer", "completed_by",
  ],
  rationale: ["rationale", "reason", "explanation", "justification", "comment", "feedback"],
  strength: ["strength", "preference_strength"],
  judgedAt: ["judged_at", "annotated_at", "submitted_at", "created_at", "timestamp", "tstamp"],
  list: ["votes", "annotations", "judgments", "judgements", "preferences", "labels"],
  item: ["item_id", "prompt_id", "question_id", "instruction_id", "pair_id", "example_id", "comparison_id", "id", "idx"],
} as const // prettier-ignore

export const expertColumn = /^(annotator|rater|expert|worker|labeler|judge|vote|human)[_ ]?\d+$/

export const indexNames: ReadonlySet<string> = new Set(["chosen_index", "best_completion_index"])
