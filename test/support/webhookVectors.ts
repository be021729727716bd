/** Signatures that services or their libraries have published with their secrets. */
import type { SchemeName } from "../../src/api/WebhookScheme.ts"

export const standard = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  body: '{"test": 2432232314}',
  at: 1614265330,
  right: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  wrong: "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=",
}

export const standardHeaders = (names: string, signature = standard.right) => ({
  [`${names}-id`]: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  [`${names}-timestamp`]: String(standard.at),
  [`${names}-signature`]: signature,
})

const gitHub = {
  secret: "It's a Secret to Everybody",
  body: "Hello, World!",
  signature: "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
}

/** The event in the tests of Stripe's library for .NET, with its signatures. */
const stripe = {
  secret: "webhook_secret",
  at: 1533204620,
  v1: "v1=2220f87ef101a04665f11cdf770523143f875572008577fa0f20882ddb9cc3c7",
  v0: "v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef",
  body: `{
  "id": "evt_123",
  "object": "event",
  "account": "acct_123",
  "api_version": "2017-05-25",
  "created": 1533204620,
  "data": {
    "object": {
      "id": "cus_123",
      "object": "customer",
      "created": 123456789,
      "email": "test@stripe.com",
      "livemode": false,
      "metadata": {}
    }
  },
  "livemode": false,
  "pending_webhooks": 1,
  "request": {
    "id": "req_123",
    "idempotency_key": "idempotency-key-123"
  },
  "type": "customer.created"
}
`,
}

export const stripeHeaders = (value = `t=${stripe.at},${stripe.v1},${stripe.v0}`) => ({ "stripe-signature": value })

export interface Published {
  readonly source: string
  readonly scheme: SchemeName
  readonly secret: string
  readonly headers: Record<string, string>
  readonly body: string
  /** Seconds since 1970, where the scheme signs a time. */
  readonly now?: number
}

const gitHubVector = (source: string, secret: string, body: string, digits: string): Published => ({
  source,
  scheme: "github",
  secret,
  headers: { "x-hub-signature-256": `sha256=${digits}` },
  body,
})

const octokit = "octokit/webhooks-methods.js, test/sign.test.ts and test/deno/web_test.ts"

/** Each was computed again, and fits. */
export const published: ReadonlyArray<Published> = [
  {
    source: "the libraries of Standard Webhooks, such as libraries/go/webhook_test.go",
    scheme: "standard-webhooks",
    secret: standard.secret,
    headers: standardHeaders("webhook"),
    body: standard.body,
    now: standard.at,
  },
  {
    source: "svix/svix-webhooks, go/webhook_test.go",
    scheme: "svix",
    secret: standard.secret,
    headers: standardHeaders("svix"),
    body: standard.body,
    now: standard.at,
  },
  {
    source: "docs.svix.com/receiving/verifying-payloads/how-manual",
    scheme: "svix",
    secret: "whsec_plJ3nmyCDGBKInavdOK15jsl",
    headers: {
      "svix-id": "msg_loFOjxBNrRLzqYUf",
      "svix-timestamp": "1731705121",
      "svix-signature": "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
    },
    body: '{"event_type":"ping","data":{"success":true}}',
    now: 1731705121,
  },
  {
    source: "stripe/stripe-dotnet, its tests of events",
    scheme: "stripe",
    secret: stripe.secret,
    headers: stripeHeaders(),
    body: stripe.body,
    now: stripe.at,
  },
  gitHubVector("docs.github.com, Validating webhook deliveries", gitHub.secret, gitHub.body, gitHub.signature.slice(7)),
  gitHubVector(octokit, "mysecret", '{"foo":"bar"}', "4864d2759938a15468b5df9ade20bf161da9b4f737ea61794142f3484236bda3"),
  gitHubVector(octokit, "secret", "data", "1b2c16b75bd2a870c114153ccda5bcfca63314bc722fa160d690de133ccbb9db"),
  {
    source: "Slack's documentation, in slackapi/bolt-js, test/unit/receivers/ExpressReceiver.spec.ts",
    scheme: "slack",
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    headers: {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
    body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
    now: 1531420618,
  },
  {
    source: "Toloka/toloka-java-sdk, SignatureValidatorSpec.groovy",
    scheme: "toloka",
    secret: "12345",
    headers: {
      "toloka-signature":
        "{v=1, ts=946728000000, sign=609af3eefd4c12b6afad30ab456efcd21fe82f4247d3340151a3ca0c97a6cbcb}",
    },
    body: '{"events":[{"event_time":"2000-01-01T12:00:00","project_id":"project-1","pool_id":"pool-1","uuid":"00000000-0000-0000-0000-000000000000","task_suite_id":"task-suite-1","assignment_id":"assignment-1","webhook_subscription_id":"subscription-1","type":"ASSIGNMENT_APPROVED"}]}',
    now: 946728000,
  },
  {
    source: "Datasaur's documentation, Webhook signature",
    scheme: "datasaur",
    secret: "secret",
    headers: { "x-datasaur-signature": "0278b1a603de4c561ac0feb960354d0d00e8846b74813d81bddb43ad45bff767" },
    body: '{"body":"sample"}',
  },
] // prettier-ignore
