/** Serves the pages. Browsers do not cache them, but cache the files in `/assets/`, whose names contain hashes. */
import { Array as Arr, Effect, FileSystem, Path } from "effect"
import { HttpBody, HttpPlatform, HttpRouter, HttpServerResponse, HttpStaticServer } from "effect/http"
import * as CompressedBodies from "../http/CompressedBodies.ts"
import { ImageHosts, pagePolicy } from "../http/SecurityHeaders.ts"

/** The folder of the built pages. It is resolved only when needed: a bundled program has no `dashboard.html`. */
const builtPages = () => new URL(".", import.meta.resolve("#built/pages/dashboard.html"))

const notBuilt = HttpServerResponse.text(
  "The pages of prefstream are not built. In a clone of the repository, run: npm run build:pages\n",
  {
    status: 503,
  },
)

const readFiles = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* HttpPlatform.HttpPlatform
  const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), (): ReadonlyArray<string> => [])
  const read = Effect.fnUntraced(function* (name: string) {
    const file = path.join(folder, name)
    const response = yield* platform.fileResponse(file)
    const body = HttpBody.uint8Array(yield* fs.readFile(file), response.headers["content-type"])
    return [file, HttpServerResponse.setBody(response, body)] as const
  })
  // If a build removes a file after `readDirectory`, reading the file fails. The file is then not kept in memory.
  const files = yield* Effect.forEach(names, (name) => Effect.option(read(name)))
  return new Map(Arr.getSomes(files))
})

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const path = yield* Path.Path
    const platform = yield* HttpPlatform.HttpPlatform
    const fs = yield* FileSystem.FileSystem
    const imageHosts = yield* ImageHosts
    const policy = pagePolicy(imageHosts)
    const root = yield* Effect.orDie(path.fromFileUrl(builtPages()))

    // The page reads the allowed image hosts here. Host names contain no characters that HTML must escape.
    const meta = `<head>\n    <meta name="image-hosts" content="${imageHosts.join(" ")}" />`
    const page = (file: string) =>
      fs.readFileString(path.join(root, file)).pipe(
        Effect.map((html) =>
          HttpServerResponse.text(html.replace("<head>", meta), {
            contentType: "text/html; charset=utf-8",
            headers: { "content-security-policy": policy },
          }),
        ),
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

    const assets = path.join(root, "assets")
    const inMemory = yield* readFiles(assets)
    const files = yield* HttpStaticServer.make({
      root: assets,
      index: undefined,
      cacheControl: "public, max-age=31536000, immutable",
    }).pipe(
      Effect.provideService(HttpPlatform.HttpPlatform, {
        ...platform,
        fileResponse: (file, options) => {
          const whole = options === undefined ? inMemory.get(file) : undefined
          return whole === undefined ? platform.fileResponse(file, options) : Effect.succeed(whole)
        },
      }),
    )
    const compressed = yield* CompressedBodies.make
    const file = compressed(files).pipe(
      // A web worker gets its policy from the response with its script, and not from the page.
      Effect.map(HttpServerResponse.setHeader("content-security-policy", policy)),
    )
    yield* router.prefixed("/assets").add("GET", "/*", file)
  }),
)
