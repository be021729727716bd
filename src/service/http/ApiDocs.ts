/** Serves Swagger UI from this package. The page has two megabytes. It is built and compressed once. */
import { Effect, Layer, Result } from "effect"
import { Base64, Hex } from "effect/encoding"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { type HttpApi, type HttpApiGroup, HttpApiSwagger } from "effect/http-api"
import * as Sha256 from "../../node/Sha256.ts"
import * as CompressedBodies from "./CompressedBodies.ts"

const hashesOf = (html: string, element: "script" | "style"): string =>
  [...html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))]
    .map(([, text = ""]) => `'sha256-${Base64.encode(Result.getOrThrow(Hex.decode(Sha256.hex(text))))}'`)
    .join(" ")

const policyOf = (html: string) =>
  `default-src 'none'; script-src ${hashesOf(html, "script")}; style-src 'self' 'unsafe-inline'; ` +
  "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const textOf = ({ body }: HttpServerResponse.HttpServerResponse): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""

const withPolicy = HttpRouter.middleware(
  Effect.gen(function* () {
    const compressed = yield* CompressedBodies.make
    let cachedPolicy: { readonly body: unknown; readonly policy: string } | undefined
    return (handled) =>
      compressed(handled).pipe(
        Effect.map((response) => {
          if (cachedPolicy?.body !== response.body)
            cachedPolicy = { body: response.body, policy: policyOf(textOf(response)) }
          return HttpServerResponse.setHeader(response, "content-security-policy", cachedPolicy.policy)
        }),
      )
  }),
)

const noIcon = HttpRouter.add("GET", "/favicon.ico", HttpServerResponse.empty({ status: 204 }))

export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  path: `/${string}`,
) => Layer.merge(HttpApiSwagger.layer(api, { path }).pipe(Layer.provide(withPolicy.layer)), noIcon)
