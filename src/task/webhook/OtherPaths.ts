/**
 * Logs webhook deliveries to a wrong path. Without the webhook, results arrive only with the next poll. Anybody who
 * finds the port can send requests. Therefore, each path is logged once, at most one path is logged per minute, and at
 * most 100 paths are logged in all.
 */
import { Duration, Effect } from "effect"
import * as SteadyClock from "../../io/SteadyClock.ts"
import { excerpt } from "../../io/Values.ts"

const logInterval = Duration.toMillis("1 minute")
const maxPaths = 100
const maxPathCharacters = 100

export const logged = (expected: string) =>
  Effect.sync(() => {
    let lastLogged = Number.NEGATIVE_INFINITY
    const paths = new Set<string>()
    return Effect.fnUntraced(function* (path: string) {
      const now = yield* SteadyClock.now
      const shown = excerpt(path, maxPathCharacters)
      if (now - lastLogged < logInterval || paths.size === maxPaths || paths.has(shown)) return
      lastLogged = now
      paths.add(shown)
      yield* Effect.logWarning(
        `a webhook delivery to ${shown} was refused, because webhooks are received at ${expected}: correct the webhook URL at the service, or set \`webhook.path\``,
      )
    })
  })
