/**
 * Logs webhook deliveries with a wrong path. These deliveries are lost, so their results wait for the next poll.
 *
 * Guarantees: each path is logged once, with at most one line per minute, since anybody who finds the port can send
 * requests. If a path is not logged because of this limit, it is logged when it occurs again later. At most 100 paths
 * are logged.
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
