import { assert } from "@effect/vitest"
import type { CurationReport } from "../../src/pair/Curation.ts"
import * as VoteWarnings from "../../src/pipeline/VoteWarnings.ts"
import * as Logs from "../support/logs.ts"
import { test } from "../source/support.ts"

const service = (items: number) => ({ not_majority: [{ by: "service", items }] })

test.each([
  [{ repeatedVotes: 1 }, [/^1 vote does not count, because its expert had already voted/]],
  [{ repeatedVotes: 2 }, [/^2 votes do not count, because their experts had already voted/]],
  [
    { unread: { count: 1, itemId: "i-1", place: "annotations.raters" } },
    [/^in 1 result \(first: item i-1\), "annotations.raters" seems to list several judgments/],
  ],
  [
    { missing: { results: 1, votes: 2 } },
    [/^1 result has fewer votes than requested: 2 votes are missing\..* Ask the provider of the service/],
  ],
  [{ missing: { results: 3, votes: 4 } }, [/^3 results have fewer votes than requested: 4 votes are missing\./]],
  [
    { short: { results: 1, votes: 1 } },
    [/^1 result has fewer votes than requested, because experts gave no answer: 1 vote is missing\./],
  ],
  [
    { missing: { results: 1, votes: 1 }, short: { results: 3, votes: 7 } },
    [
      /^1 result has fewer votes than requested: 1 vote is missing\./,
      /^3 results have fewer votes than requested, because experts gave no answer: 7 votes are missing\./,
    ],
  ],
  [{ agreement: service(1) }, [/^on 1 item, the service's choice differs .* \(0 items\)\./]],
  [
    { agreement: service(2), lost: [{ reason: "against_votes", count: 1 }] },
    [/^on 2 items, the service's choice differs .* \(1 item\)\./],
  ],
  [
    {
      experts: [
        { expert: "a", gold_right: 20, gold_votes: 100, reliability: 0.9 },
        { expert: null, gold_right: 0, gold_votes: 100, reliability: 0.8 },
        { expert: "fair", gold_right: 85, gold_votes: 100, reliability: 0.9 },
      ],
    },
    [/^a: 20 of 100 votes on gold items .* is 0\.90\./, /^votes without an expert: 0 of 100 votes .* is 0\.80\./],
  ],
  [{}, []],
] satisfies ReadonlyArray<readonly [object, ReadonlyArray<RegExp>]>)("%j is warned of", function* ([of, expected]) {
  const { during, messages } = Logs.make()
  const noVotes = { results: 0, votes: 0 }
  const none = {
    agreement: { not_majority: [] },
    experts: [],
    lost: [],
    missing: noVotes,
    repeatedVotes: 0,
    short: noVotes,
    unread: undefined,
  }
  yield* during(VoteWarnings.log({ ...none, ...of } as unknown as CurationReport))
  assert.lengthOf(messages, expected.length)
  for (const [i, pattern] of expected.entries()) assert.match(messages[i]!, pattern)
})
