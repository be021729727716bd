/** Implements the part of `DashboardApi` about signing in. */
import { Context, Effect, Layer, Option } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Forbidden } from "../../api/Problems.ts"
import { Accounts, type SignedIn } from "../account/Accounts.ts"
import type { Sessions } from "../account/Sessions.ts"
import { ServiceAddress } from "../http/ServiceAddress.ts"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { SignedInOperator } from "../pageApi/OperatorSession.ts"
import { NotSignedIn, TooManyAttempts } from "../pageApi/WebProblems.ts"
import * as SignInGuard from "./SignInGuard.ts"
import { orDieOfSql } from "./StoreFailures.ts"

const attemptsExceeded = Effect.fnUntraced(function* ({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) {
  yield* HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(retryAfterSeconds))),
  )
  return yield* new TooManyAttempts({ detail: `Try again in ${retryAfterSeconds} s.` })
})

const signInHandlers = HttpApiBuilder.group(
  DashboardApi,
  "signIn",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const address = yield* ServiceAddress
    const open = Effect.fnUntraced(function* ({ name, role, session }: SignedIn) {
      yield* SignInGuard.set("operator", session).pipe(Effect.provideService(ServiceAddress, address))
      return { name, role }
    })

    return handlers.handleAll({
      link: Effect.fnUntraced(function* ({ payload: { code } }) {
        const name = yield* orDieOfSql(accounts.findLink(code))
        return { name: Option.getOrNull(name) }
      }),
      setUp: ({ payload: { code, name, password } }) =>
        accounts.setUp(code, name, password).pipe(Effect.catchTag("SqlError", Effect.die), Effect.flatMap(open)),
      signIn: ({ payload: { name, password }, request }) =>
        accounts.signIn(name, password, address.clientOf(request)).pipe(
          Effect.catchTags({
            SignInRefused: () => new NotSignedIn({ detail: "The name or the password is wrong." }),
            AttemptsExceeded: attemptsExceeded,
            SqlError: Effect.die,
          }),
          Effect.flatMap(open),
        ),
    })
  }),
)

const sessionHandlers = HttpApiBuilder.group(
  DashboardApi,
  "session",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const services = yield* Effect.context<ServiceAddress | Sessions>()
    return handlers.handleAll({
      session: Effect.fnUntraced(function* () {
        const { name, role } = yield* SignedInOperator
        return { name, role }
      }),
      signOut: Effect.fnUntraced(function* () {
        yield* Effect.orDie(SignInGuard.end("operator")).pipe(Effect.provide(services))
      }),
      changePassword: Effect.fnUntraced(function* ({ payload: { current, password }, request }) {
        const { name } = yield* SignedInOperator
        const { clientOf } = Context.get(services, ServiceAddress)
        const session = yield* accounts.changePassword(name, current, password, clientOf(request)).pipe(
          Effect.catchTags({
            SignInRefused: () => new Forbidden({ detail: "The current password is wrong." }),
            AttemptsExceeded: attemptsExceeded,
            SqlError: Effect.die,
          }),
        )
        yield* SignInGuard.set("operator", session).pipe(Effect.provide(services))
      }),
    })
  }),
)

export const layer = Layer.merge(signInHandlers, sessionHandlers)
