import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Problems from "../../../src/api/Problems.ts"
import { Vote } from "../../../src/domain/Vote.ts"
import { defaultRateLimit } from "../../../src/service/http/RateLimit.ts"
import { defaultLimits } from "../../../src/service/http/RequestLimits.ts"
import { call, platform, start } from "../support.ts"

const served = Effect.gen(function* () {
  const base = yield* start({ rateLimit: defaultRateLimit, votes: 3, requestTimeout: "90 seconds" })
  const open = { headers: { authorization: "" } }
  const { json } = yield* call("GET", `${base}/v1/openapi.json`, open)
  const docs = yield* call("GET", `${base}/v1/docs`, open)
  return { document: json, guide: String(json.info.description), docs }
})

const { docs, document, guide } = await Effect.runPromise(Effect.provide(Effect.scoped(served), platform))

describe("the OpenAPI document", () => {
  describe("says of the requests", () => {
    it("which members they have, and what each is", () => {
      assert.deepStrictEqual(Object.keys(document.paths), ["/v1/tasks", "/v1/tasks/{task_id}", "/v1/votes"])
      const { post } = document.paths["/v1/tasks"]
      const { properties } = post.requestBody.content["application/json"].schema
      const members = "task_type prompts guidelines votes voters group group_size metadata"
      assert.sameMembers(Object.keys(properties), members.split(" "))
      for (const [name, schema] of Object.entries(properties)) {
        assert.isString((schema as { description: string }).description, name)
      }
      assert.strictEqual(post.parameters[0].name, "idempotency-key")
    })

    it("how they are answered: statuses, Location, limits", () => {
      const { post } = document.paths["/v1/tasks"]
      const { get } = document.paths["/v1/tasks/{task_id}"]
      const statuses = "201 400 401 403 408 413 415 422 429 500 503"
      assert.sameMembers(Object.keys(post.responses), statuses.split(" "))
      assert.sameMembers(Object.keys(get.responses), ["200", "401", "403", "404", "429", "500", "503"])
      assert.property(post.responses["201"].headers, "location")
      for (const { responses } of [post, get]) {
        assert.containsAllKeys(responses["429"].headers, ["Retry-After", "RateLimit", "RateLimit-Policy"])
        for (const response of Object.values(responses)) {
          assert.isNotEmpty((response as { description: string }).description)
        }
      }
    })

    it("the limits as keywords, the states as an enum, and where the service is", () => {
      const { properties } = document.paths["/v1/tasks"].post.requestBody.content["application/json"].schema
      const { completions, prompt } = properties.prompts.items.properties
      assert.deepInclude(properties.prompts, { minItems: 1, maxItems: 1_000 })
      assert.deepInclude(prompt, { minLength: 1, maxLength: 200_000 })
      assert.deepInclude(completions, { minItems: 2, maxItems: 64, items: { type: "string", maxLength: 200_000 } })
      assert.deepInclude(properties.guidelines, { maxLength: 50_000 })
      assert.deepStrictEqual(properties.task_type.enum, ["rlhf_ranking"])
      const { schema } = document.paths["/v1/tasks/{task_id}"].get.responses["200"].content["application/json"]
      assert.sameMembers(schema.properties.status.enum, ["pending", "in_progress", "completed", "cancelled"])
      assert.deepStrictEqual(document.servers, [{ url: "/" }])
    })

    it("objects are open: members may be added", () => {
      assert.notInclude(JSON.stringify(document), '"additionalProperties":false')
    })
  })

  it("says of the results what a vote holds", () => {
    const { schema } = document.paths["/v1/tasks/{task_id}"].get.responses["200"].content["application/json"]
    const { annotations } = schema.properties.results.items.properties
    assert.containsAllKeys(annotations.properties, ["rationale", "votes", "agreement", "tie", "ranking", "flags"])
    assert.sameMembers(Object.keys(annotations.properties.votes.items.properties), Object.keys(Vote.fields))
  })

  it("lists every problem type", () => {
    const types = Object.values(Problems).map((problem) => new problem({}).type)
    assert.isAtLeast(types.length, 10)
    for (const type of types) {
      assert.include(guide, `\`${type.replace("tag:prefstream,2026:", "")}\``)
    }
    assert.include(guide, "tag:prefstream,2026:")
    assert.isObject(document.components.schemas)
  })

  it("names the limits that hold", () => {
    for (const limit of Object.values(defaultLimits)) assert.include(guide, limit.toLocaleString("en-US"))
    assert.include(guide, '`RateLimit-Policy: "default";q=200')
    assert.include(guide, "| time for a request to arrive | 90 seconds | 408")
    assert.include(guide, "Retry-After")
    assert.include(guide, "surrogate")
  })

  it("describes the webhook: payload, headers, signature, retries", () => {
    const { post } = document.webhooks["task_group.completed"]
    assert.deepStrictEqual(
      post.parameters.map(({ name }: { name: string }) => name),
      ["webhook-id", "webhook-timestamp", "webhook-signature"],
    )
    const { properties } = post.requestBody.content["application/json"].schema
    assert.sameMembers(Object.keys(properties), ["type", "timestamp", "data"])
    assert.sameMembers(Object.keys(properties.data.properties), ["group_id", "task_ids"])
    for (const said of ["HMAC-SHA256", "whsec_", "v1,", "Standard Webhooks 1.0.0", "15 seconds", "410"]) {
      assert.include(guide, said)
    }
  })

  it("is shown to a browser by scripts of the page's own, each named by its hash", () => {
    assert.include(docs.text, "swagger-ui")
    assert.notMatch(docs.text, /<(script|link)[^>]*(src|href)="/)
    const policy = docs.headers["content-security-policy"]!
    assert.match(policy, /script-src 'sha256-[\w+/]{43}='/)
    assert.notMatch(policy, /script-src[^;]*unsafe/)
    assert.strictEqual(docs.headers["x-content-type-options"], "nosniff")
  })
})
