/**
 * The annotations of a result, as a schema of the OpenAPI document.
 *
 * Guarantees: describes each member that the service writes. Does not: close the objects, nor is anything checked by it.
 */
import { FlagKind } from "../../domain/Flag.ts"

const index = { type: "integer", minimum: 0 }
const ranking = { type: "array", items: { type: "array", items: index, minItems: 1 } }

/** Of a vote, and of a result; present where the rubric asks and experts say it. */
const assessment = {
  strength: { type: "number", minimum: 1, description: "How much better the best is: 1 for the least." },
  all_bad: { type: "boolean", description: "Whether no completion is good enough; present where the rubric asks." },
  edited: { type: "string", description: "The best completion, as an expert would have it." },
  aspects: {
    type: "object",
    description: "Ratings by aspect, one per completion, null where it was not rated.",
    additionalProperties: { type: "array", items: { type: ["number", "null"] } },
  },
}

/** What a result says beside the choice. Its other members are open, as in the contract. */
export const schemaOfAnnotations = {
  type: "object",
  description: "What the experts said. Ignore members that you don't know.",
  required: ["rationale"],
  properties: {
    rationale: { type: "string", description: "Of the earliest vote for the best completion that has one, or empty." },
    withdrawn: { type: "object", description: "Where a lead withdrew the prompt (`by`, `at`): there is no judgment." },
    agreement: { type: "number", minimum: 0, maximum: 1, description: "Share of first-choice votes for the best." },
    tie: { type: "boolean", description: "Present where several had the most first-choice votes." },
    ranking: {
      ...ranking,
      description: "All completions as groups of indices, best first; present where every vote ranks them.",
    },
    ...assessment,
    flags: {
      type: "array",
      description: "Problems that experts reported; present where there are any.",
      items: {
        type: "object",
        required: ["expert", "kind"],
        properties: {
          expert: { type: "string", description: "As in the votes." },
          kind: {
            type: "string",
            description: `${FlagKind.literals.map((kind) => `\`${kind}\``).join(", ")}, or a name from the rubric.`,
          },
          comment: { type: "string", description: "What the expert wrote." },
        },
      },
    },
    votes: {
      type: "array",
      description: "In the order in which they were given.",
      items: {
        type: "object",
        required: ["expert", "choice", "order", "seconds"],
        properties: {
          expert: { type: "string", description: "`expert_…` for a person, the name of an automatic expert." },
          kind: { type: "string", description: "The kind of expert: `person` or `automatic`." },
          choice: { ...index, description: "The completion preferred; of several, the first that was shown." },
          ranking: { ...ranking, description: "All completions as groups, best first, where the expert ranked them." },
          order: { type: "array", items: index, description: "The completions as they were shown to this expert." },
          seconds: { type: "number", description: "Time that the expert looked at the prompt." },
          rationale: { type: "string", description: "Why, where the expert said so." },
          ...assessment,
          flags: {
            type: "array",
            items: { type: "string" },
            description: "What the expert marked, by the rubric's names.",
          },
          guidelines_version: {
            type: "integer",
            description: "The version of the guidelines that the expert saw, where they were changed. 1 is as sent.",
          },
          repeated: {
            type: "boolean",
            description:
              "True where the person had voted on the same prompt and completions, under the same guidelines, in another task, since too few people are there.",
          },
          details: { type: "object", description: "What an automatic expert says of its vote." },
        },
      },
    },
  },
}
