/**
 * Adapter: HTTP requests by undici, over the connections that the whole process shares,
 * for parts that live as long as it does.
 *
 * Guarantees: redirections are not followed. Time is not limited here.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Layer } from "effect"

export const layer = NodeHttpClient.layerUndiciNoDispatcher.pipe(Layer.provide(NodeHttpClient.dispatcherLayerGlobal))
