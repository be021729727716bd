/**
 * The annotation service. It implements the whole contract over HTTP, and adds a dashboard, an annotation page for
 * people, and automatic experts. A task is stored durably before its creation is confirmed. Every response other than
 * 2xx is a problem (RFC 9457). Only failed requests are logged. `ApiGuide` describes what the contract does not define.
 */
import { Effect, type Layer } from "effect"
import type { HttpServer } from "effect/http"
import { Accounts } from "./account/Accounts.ts"
import { Tokens } from "./account/Tokens.ts"
import { ServiceAddress } from "./http/ServiceAddress.ts"
import type * as AccountIds from "./account/AccountIds.ts"
import * as ServiceLayers from "./ServiceLayers.ts"
import { checked } from "./ServiceOptionInvalid.ts"

export * as Expert from "./expert/ScriptedExperts.ts"
export { JudgeAnswersError } from "./expert/JudgeAnswers.ts"
export type { JudgeOptions } from "./expert/JudgeExpert.ts"
export { type JudgeSettings, JudgeSettingsError } from "./expert/JudgeSettings.ts"
export { InvalidPublicUrl } from "./http/ServiceAddress.ts"
export { layerHttp, type ServerOptions, type ServiceOptions } from "./ServiceLayers.ts"
export { ServiceOptionInvalid } from "./ServiceOptionInvalid.ts"
export { ServiceAddress }
export type { RateLimit } from "./http/RateLimit.ts"
export type { RequestLimits } from "./http/RequestLimits.ts"
export type { Accounts, Tokens } from "./account/AccountIds.ts"

/** A service on loopback and a free port, with a new token at each start. Provides the `ServiceProfile` of a client. */
export const layerEmbedded = (options: ServiceLayers.ServiceOptions & { readonly database: string }) =>
  checked(options, true, () => ServiceLayers.layerEmbedded(options))

/** The service's routes and experts. The caller provides an HTTP server and a database. */
export const layer = (options: ServiceLayers.ServiceOptions) =>
  providing<ServiceAddress | AccountIds.Accounts | AccountIds.Tokens>()(
    checked(options, false, () => ServiceLayers.layer(options)),
  )

/** The service on Node, with its state in one SQLite file. See also `signInLink`, `createToken`, `ServiceAddress`. */
export const layerServer = (options: ServiceLayers.ServerOptions) =>
  providing<ServiceAddress | AccountIds.Accounts | AccountIds.Tokens | HttpServer.HttpServer>()(
    checked(options, true, () => ServiceLayers.layerServer(options)),
  )

const providing =
  <A>() =>
  <E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
    layer

/** Makes the path of a page where an operator sets a password and signs in. It works once, within 24 hours. */
export const signInLink = Accounts.use((accounts) => accounts.signInLink)

/** Creates a token for clients of the service, under a name that the dashboard shows. */
export const createToken = (name: string) =>
  Effect.map(
    Tokens.use((tokens) => tokens.create(name)),
    ({ token }) => token,
  )
