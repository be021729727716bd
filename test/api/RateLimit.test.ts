import { assert, describe, it } from "@effect/vitest"
import { Headers } from "effect/http"
import { quotas } from "../../src/api/RateLimit.ts"

const now = Date.UTC(2026, 10, 21)

describe("RateLimit", () => {
  const cases: ReadonlyArray<
    readonly [string, Record<string, string>, ReadonlyArray<readonly [string, number, number]>]
  > = [
    ["the draft's form", { ratelimit: '"default";r=50;t=30' }, [["default", 50, 30_000]]],
    [
      "several policies",
      {
        ratelimit: '"burst";r=0;t=1, "daily";r=4711;t=600',
        "ratelimit-policy": '"burst";q=10;w=1,"daily";q=9000;w=86400',
      },
      [
        ["burst", 0, 1_000],
        ["daily", 4711, 600_000],
      ],
    ],
    [
      "a window in place of a time",
      { ratelimit: '"default";r=3', "ratelimit-policy": '"other";q=1;w=7, "default";q=100;w=60' },
      [["default", 3, 60_000]],
    ],
    ["a token as the name", { ratelimit: "default;r=5;t=2" }, [["default", 5, 2_000]]],
    ["a partition key", { ratelimit: '"default";r=5;t=2;pk=:dHJpYWwxMjEzMjM=:' }, [["default", 5, 2_000]]],
    ["separators within a name", { ratelimit: '"a,b;r=9;\\"c";r=5;t=2' }, [['a,b;r=9;\\"c', 5, 2_000]]],
    ["the form of older drafts", { ratelimit: "limit=100, remaining=50, reset=30" }, [["ratelimit", 50, 30_000]]],
    [
      "three headers",
      { "ratelimit-limit": "100, 100;w=60", "ratelimit-remaining": "7", "ratelimit-reset": "9" },
      [["ratelimit", 7, 9_000]],
    ],
    [
      "a time since 1970",
      { "x-ratelimit-remaining": "7", "x-ratelimit-reset": `${now / 1000 + 90}` },
      [["x-ratelimit", 7, 90_000]],
    ],
    [
      "one in milliseconds",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${now + 1500}` },
      [["x-ratelimit", 0, 1_500]],
    ],
    [
      "a time that has passed",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${now / 1000 - 5}` },
      [["x-ratelimit", 0, 0]],
    ],
    [
      "a part of a second",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "0.25", "x-ratelimit-reset": "1" },
      [["x-ratelimit", 0, 250]],
    ],
    ["no more than an hour", { ratelimit: '"daily";r=0;t=86400' }, [["daily", 0, 3_600_000]]],
    ["no header", {}, []],
    ["no time", { ratelimit: '"default";r=50', "x-ratelimit-remaining": "3" }, []],
    ["no number", { ratelimit: '"default";r=many;t=30, "b";r=-1;t=1, "c";r=?1;t=1' }, []],
    ["nonsense", { ratelimit: ';;,"', "ratelimit-policy": '"' }, []],
    ["an older header without a time", { "x-ratelimit-remaining": "3", "x-ratelimit-limit": "5" }, []],
  ]
  for (const [name, headers, expected] of cases) {
    it(`reads ${name}`, () => {
      assert.deepStrictEqual(
        quotas(Headers.fromInput(headers), now).map(({ name, remaining, reset }) => [name, remaining, reset]),
        expected.map((quota) => [...quota]),
      )
    })
  }
})
