/** Session cookies of the pages. Services on different ports of a host overwrite each other's cookies. */
import { Effect, Layer, Option, Redacted } from "effect"
import { type Cookies, HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, type HttpApiSecurity } from "effect/http-api"
import { Actor } from "../database/Audit.ts"
import { Experts } from "../store/Experts.ts"
import { Accounts } from "../account/Accounts.ts"
import { ExpertSession, SignedInExpert } from "../pageApi/AnnotateApi.ts"
import { isAtLeast } from "../pageApi/PageConstants.ts"
import { minRoleOf, OperatorSession, SignedInOperator } from "../pageApi/OperatorSession.ts"
import { ServiceAddress } from "../http/ServiceAddress.ts"
import { lifetimes, type SessionKind, Sessions } from "../account/Sessions.ts"
import { Forbidden } from "../../api/Problems.ts"
import { NotSignedIn } from "../pageApi/WebProblems.ts"

const cookies: {
  readonly [kind in SessionKind]: { readonly security: HttpApiSecurity.ApiKey; readonly path: string }
} = {
  operator: { security: OperatorSession.security.cookie, path: "/dashboard/api" },
  expert: { security: ExpertSession.security.cookie, path: "/annotate/api" },
}

const optionsOf = (kind: SessionKind, secure: boolean): Cookies.Cookie["options"] => ({
  path: cookies[kind].path,
  httpOnly: true,
  sameSite: "strict",
  secure,
})

export const set = Effect.fnUntraced(function* (kind: SessionKind, session: string) {
  const { secure } = yield* ServiceAddress
  yield* HttpApiBuilder.securitySetCookie(cookies[kind].security, session, {
    ...optionsOf(kind, secure),
    maxAge: lifetimes[kind].absolute,
  })
})

export const end = Effect.fnUntraced(function* (kind: SessionKind) {
  const { secure } = yield* ServiceAddress
  const sessions = yield* Sessions
  const request = yield* HttpServerRequest.HttpServerRequest
  const { key } = cookies[kind].security
  yield* sessions.end(request.cookies[key] ?? "")
  yield* HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.expireCookieUnsafe(response, key, optionsOf(kind, secure))),
  )
})

const operator = Layer.effect(
  OperatorSession,
  Effect.gen(function* () {
    const accounts = yield* Accounts
    return OperatorSession.of({
      cookie: Effect.fnUntraced(function* (handled, { credential, endpoint }) {
        const operator = yield* Effect.orDie(accounts.findSession(Redacted.value(credential)))
        if (Option.isNone(operator)) return yield* new NotSignedIn({ detail: "Sign in to continue." })
        const min = minRoleOf(endpoint)
        if (!isAtLeast(operator.value.role, min)) {
          return yield* new Forbidden({
            detail: `Only ${min === "admin" ? "admins" : "managers and admins"} may do this.`,
          })
        }
        return yield* handled.pipe(
          Effect.provideService(SignedInOperator, operator.value),
          Effect.provideService(Actor, operator.value),
        )
      }),
    })
  }),
)

const expert = Layer.effect(
  ExpertSession,
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const experts = yield* Experts
    return ExpertSession.of({
      cookie: Effect.fnUntraced(function* (handled, { credential }) {
        const expertId = yield* Effect.orDie(sessions.find("expert", Redacted.value(credential)))
        const person = Option.isNone(expertId) ? Option.none() : yield* Effect.orDie(experts.find(expertId.value))
        if (Option.isNone(person) || !person.value.active) {
          return yield* new NotSignedIn({ detail: "Open your invitation link, or ask for a new one." })
        }
        const { expert_id, name } = person.value
        yield* Effect.orDie(experts.touch(expert_id))
        return yield* Effect.provideService(handled, SignedInExpert, { expertId: expert_id, name })
      }),
    })
  }),
)

export const layer = Layer.merge(operator, expert)
