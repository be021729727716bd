/**
 * Adapter: an HTTP client that checks each address right before the connection, against DNS rebinding. It follows no
 * redirects, ignores proxy variables, and has no timeout for requests.
 */
import * as dns from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Layer, Schema } from "effect"
import { HttpClient, HttpClientError } from "effect/http"

export type Guard = (address: string) => string | undefined

export class AddressRefused extends Schema.TaggedError<AddressRefused>()("AddressRefused", {
  address: Schema.String,
  problem: Schema.String,
}) {
  override get message() {
    return `${this.address}: ${this.problem}`
  }
}

export type Resolver = (
  host: string,
  options: dns.LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: Array<dns.LookupAddress>) => void,
) => void

export interface GuardedHttpClientOptions {
  readonly guard: Guard
  readonly resolver?: Resolver | undefined
  readonly onPermitted?: ((host: string, address: string) => void) | undefined
}

/** After a request is interrupted, its attempt to connect continues. This timeout ends the attempt. */
const connectTimeoutMillis = 15_000

/** `node:net` expects an IPv6 address without brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "")

const sift = (guard: Guard, addresses: ReadonlyArray<dns.LookupAddress>) => {
  const permitted: Array<dns.LookupAddress> = []
  let refused: AddressRefused | undefined
  for (const entry of addresses) {
    const problem = guard(entry.address)
    if (problem === undefined) permitted.push(entry)
    else refused ??= new AddressRefused({ address: entry.address, problem })
  }
  return { permitted, refused }
}

/** Fails if the guard refuses all addresses of the host. Succeeds for a host without an address. */
export const check = Effect.fnUntraced(function* (
  host: string,
  { guard, resolver = dns.lookup }: GuardedHttpClientOptions,
): Effect.fn.Return<void, AddressRefused> {
  const addresses =
    isIP(host) !== 0
      ? [{ address: host, family: isIP(host) }]
      : yield* Effect.callback<ReadonlyArray<dns.LookupAddress>>((resume) => {
          resolver(host, { all: true }, (error, results) => resume(Effect.succeed(error === null ? results : [])))
        })
  const { permitted, refused } = sift(guard, addresses)
  if (permitted.length === 0 && refused !== undefined) return yield* refused
})

const guardedLookup =
  ({ guard, onPermitted, resolver = dns.lookup }: GuardedHttpClientOptions): LookupFunction =>
  (host, options, callback) =>
    resolver(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, [])
      const { permitted, refused } = sift(guard, addresses)
      for (const { address } of permitted) onPermitted?.(host, address)
      const [first] = permitted
      if (first === undefined) {
        return callback(refused ?? Object.assign(new Error(`${host} has no address`), { code: "ENOTFOUND" }), [])
      }
      return options.all === true ? callback(null, permitted) : callback(null, first.address, first.family)
    })

export const layer = (options: GuardedHttpClientOptions): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      // An IP address in the URL is not looked up, so `guardedLookup` does not see it.
      HttpClient.mapRequestEffect((request) => {
        const host = URL.canParse(request.url) ? hostOf(new URL(request.url)) : ""
        if (isIP(host) === 0) return Effect.succeed(request)
        const problem = options.guard(host)
        if (problem === undefined) {
          options.onPermitted?.(host, host)
          return Effect.succeed(request)
        }
        const cause = new AddressRefused({ address: host, problem })
        return Effect.fail(
          new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) }),
        )
      }),
    ),
  ).pipe(
    Layer.provide(
      NodeHttpClient.layerUndiciOptions({
        allowH2: false,
        connect: { lookup: guardedLookup(options), timeout: connectTimeoutMillis },
      }),
    ),
  )
