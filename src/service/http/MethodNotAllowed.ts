/** If a path exists but does not support the request's method, answers 405 with the supported methods in `Allow`. */
import { Effect, type Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { MethodNotAllowed } from "../../api/Problems.ts"

interface Route {
  readonly method: string
  readonly path: `/${string}`
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const

interface Definition {
  readonly groups: Readonly<Record<string, { readonly endpoints: Readonly<Record<string, Route>> }>>
}

export const routesOf = ({ groups }: Definition): ReadonlyArray<Route> =>
  Object.values(groups).flatMap(({ endpoints }) => Object.values(endpoints))

const refuse = Effect.fnUntraced(function* (allow: string) {
  const { method } = yield* HttpServerRequest.HttpServerRequest
  const problem = new MethodNotAllowed({ detail: `${method} is not supported here. Supported methods: ${allow}.` })
  return HttpServerResponse.setHeader(yield* Effect.orDie(HttpServerRespondable.toResponse(problem)), "allow", allow)
})

export const layer = (routes: ReadonlyArray<Route>): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      for (const [path, served] of Map.groupBy(routes, (route) => route.path)) {
        const routeMethods = new Set(served.map(({ method }) => method))
        const allow = [...routeMethods, ...(routeMethods.has("GET") ? ["HEAD"] : [])].join(", ")
        for (const method of methods) {
          if (!routeMethods.has(method)) yield* router.add(method, path, refuse(allow))
        }
      }
    }),
  )
