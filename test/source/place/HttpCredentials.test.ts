import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as Place from "../../../src/source/place/Place.ts"
import { temporaryDirectory } from "../../support/job.ts"
import { keeping, serve } from "./fileServer.ts"
import { bytesOf, failureOf, pattern, test, within } from "./support.ts"

const content = pattern(1000)

const read = (url: string, env: Readonly<Record<string, string>>) =>
  within(env)(Effect.flatMap(Place.open(url), bytesOf))

const bearer = (token: string) => `Bearer ${token}`
const basic = (user: string, password: string) => `Basic ${btoa(`${user}:${password}`)}`

const homeWith = (netrc: string) =>
  Effect.tap(temporaryDirectory, (home) =>
    FileSystem.FileSystem.use((fs) => fs.writeFileString(`${home}/.netrc`, netrc)),
  )

/** A server whose files need this authorization. */
const guarded = (authorization: string | undefined) =>
  serve((request, response) =>
    request.headers.authorization === authorization
      ? keeping({ content, etag: '"v1"' })(request, response)
      : response.writeHead(401).end(),
  )

describe("the credentials of a URL", () => {
  test("are the token for its host and port, which no other host gets", function* () {
    const elsewhere = yield* guarded(undefined)
    const server = yield* guarded(bearer("to=ken=="))
    const env = { PREFSTREAM_HTTP_TOKENS: `  other.example=x\n${server.host}=to=ken==` }
    assert.deepStrictEqual(yield* read(`${server.url}/a`, env), content)
    assert.deepStrictEqual(yield* read(`${elsewhere.url}/a`, env), content)
    const hub = yield* serve((_, response) => response.writeHead(302, { location: `${elsewhere.url}/a` }).end())
    assert.deepStrictEqual(yield* read(`${hub.url}/a`, { PREFSTREAM_HTTP_TOKENS: `${hub.host}=planted` }), content)
    assert.isTrue(elsewhere.asked.every(({ headers }) => headers.authorization === undefined))
  })

  for (const [what, netrc, user, password] of [
    ["one line", "machine 127.0.0.1 login ada password s3cret", "ada", "s3cret"],
    ["several lines", "machine x\n  login y\n  password z\nmachine 127.0.0.1\n\tlogin ada\n\tpassword z\n", "ada", "z"],
    ["quotes", String.raw`machine 127.0.0.1 login "a \"d\" a" password "p # q"`, 'a "d" a', "p # q"],
    [
      "words of the format",
      "machine 127.0.0.1 login machine password default\nmachine x login y",
      "machine",
      "default",
    ],
    [
      "macros and comments",
      "# mine\nmacdef init\nmachine 127.0.0.1 login no\n\nmachine 127.0.0.1 login a password b",
      "a",
      "b",
    ],
    ["an account", "machine 127.0.0.1 login ada account x password b", "ada", "b"],
  ] as const) {
    test(`are the host's entry in .netrc: ${what}`, function* () {
      const home = yield* homeWith(netrc)
      const { url } = yield* guarded(basic(user, password))
      assert.deepStrictEqual(yield* read(`${url}/a`, { HOME: home }), content)
      assert.deepStrictEqual(yield* read(`${url}/a`, { NETRC: `${home}/.netrc` }), content)
    })
  }

  test("are those in the URL before a token, and a token before .netrc, of which the default is for nobody", function* () {
    const home = yield* homeWith("machine 127.0.0.1 login a password b\ndefault login c password d")
    const byUrl = yield* guarded(basic("us@er", "pass"))
    const byToken = yield* guarded(bearer("token"))
    const PREFSTREAM_HTTP_TOKENS = `${byUrl.host}=token ${byToken.host}=token`
    const env = { HOME: home, PREFSTREAM_HTTP_TOKENS }
    yield* read(`http://us%40er:pass@${byUrl.host}/a`, env)
    yield* read(`${byToken.url}/a`, env)
    const { url } = yield* guarded(undefined)
    yield* read(`${url}/a`, { HOME: yield* homeWith("machine x login a password b default login c password d") })
  })

  test("that are refused, missing, or invalid are failures that name their origin, and no secret", function* () {
    const home = yield* homeWith("machine 127.0.0.1 login ada password planted")
    const { host, url } = yield* guarded(bearer("right"))
    for (const [name, env, words] of [
      [
        `${url}/a`,
        {},
        /requires authorization \(401\); set PREFSTREAM_HTTP_TOKENS=HOST=TOKEN, add the host to ~\/\.netrc/,
      ],
      [
        `${url}/a`,
        { PREFSTREAM_HTTP_TOKENS: `${host}=planted` },
        /refuses the token for \S+ in PREFSTREAM_HTTP_TOKENS \(401\)/,
      ],
      [
        `${url}/a`,
        { HOME: home },
        /refuses the entry for 127\.0\.0\.1 in \.netrc \(401\): check whether the credentials are wrong or expired$/,
      ],
      [
        `${url}/a`,
        { PREFSTREAM_HTTP_TOKENS: "planted" },
        /PREFSTREAM_HTTP_TOKENS: expected HOST=TOKEN, several separated/,
      ],
      [
        "http://data.example/a",
        { PREFSTREAM_HTTP_TOKENS: "data.example=planted" },
        /would be sent unencrypted; use an https/,
      ],
    ] as const) {
      const message = yield* failureOf(read(name, env))
      assert.match(message, words)
      assert.notInclude(message, "planted")
    }
  })
})
