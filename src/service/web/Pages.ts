/**
 * The two pages and their files, as Vite has built them: `/dashboard/`, `/annotate/`, `/assets/…`.
 *
 * Guarantees: only files of the built folder are served; pages are asked for anew each time, while
 * files under `/assets/`, whose names change with their content, are kept by browsers for good.
 * Where the pages were not built, the answer says so.
 */
import { Effect, Path } from "effect"
import { HttpMiddleware, HttpPlatform, HttpRouter, HttpServerResponse, HttpStaticServer } from "effect/http"
import { pagePolicy } from "./SecurityHeaders.ts"

// The same from src/service/web and from dist/service/web.
const builtPages = new URL("../../../dist/pages/", import.meta.url)

const notBuilt = HttpServerResponse.text("The pages of prefstream are not built. In a clone: npm run build:pages\n", {
  status: 503,
})

/** The routes of the pages. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const path = yield* Path.Path
    const platform = yield* HttpPlatform.HttpPlatform
    const root = yield* Effect.orDie(path.fromFileUrl(builtPages))

    const page = (file: string) =>
      platform
        .fileResponse(path.join(root, file), {
          contentType: "text/html; charset=utf-8",
          headers: { "content-security-policy": pagePolicy },
        })
        .pipe(
          Effect.catchReason(
            "PlatformError",
            "NotFound",
            () => Effect.succeed(notBuilt),
            (error) => Effect.die(error),
          ),
        )
    yield* router.add("GET", "/", HttpServerResponse.redirect("/dashboard/"))
    yield* router.add("GET", "/dashboard", page("dashboard.html"))
    yield* router.add("GET", "/annotate", page("annotate.html"))

    const files = yield* HttpStaticServer.make({
      root: path.join(root, "assets"),
      index: undefined,
      cacheControl: "public, max-age=31536000, immutable",
    })
    const file = HttpMiddleware.compression()(files).pipe(
      // A worker goes by the policy of its own file.
      Effect.map(HttpServerResponse.setHeader("content-security-policy", pagePolicy)),
      Effect.provideService(HttpPlatform.HttpPlatform, platform),
    )
    yield* router.prefixed("/assets").add("GET", "/*", file)
  }),
)
