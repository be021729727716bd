/**
 * Adapter: an HTTP client on undici with the connection pool of the process.
 *
 * Guarantees: redirects are not followed. Requests have no timeout of their own.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Layer } from "effect"

export const layer = NodeHttpClient.layerUndiciNoDispatcher.pipe(Layer.provide(NodeHttpClient.dispatcherLayerGlobal))
