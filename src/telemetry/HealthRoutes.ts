/** `/healthz` succeeds while the process runs, `/readyz` while the process can work (`Readiness`). Both are public. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Readiness from "./Readiness.ts"

export const paths = ["/healthz", "/readyz"] as const

const [health, ready] = paths

export const layer = Layer.merge(
  HttpRouter.add("GET", health, HttpServerResponse.text("listening\n")),
  HttpRouter.add(
    "GET",
    ready,
    Effect.map(Readiness.isReady, (isReady) =>
      isReady ? HttpServerResponse.text("ready\n") : HttpServerResponse.text("not ready\n", { status: 503 }),
    ),
  ),
)
