/**
 * The address of the service, and checks of requests. To prevent DNS rebinding, a service on loopback accepts no `Host`
 * except loopback names and its public name. If there is a public URL, a request from a loopback or private address
 * counts as a proxy's request, and its client is the last address in `X-Forwarded-For`.
 */
import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { HttpServer, type HttpServerRequest } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"

/** The public URL has a path, a query, or a user, or is not an http or https URL. */
export class InvalidPublicUrl extends Schema.TaggedError<InvalidPublicUrl>()("InvalidPublicUrl", {
  /** The invalid URL, as the caller wrote it. */
  found: Schema.String,
}) {
  override get message() {
    return `invalid public URL ${this.found}: expected http://HOST or https://HOST, with an optional port and nothing after it`
  }
}

const parsePublicUrl = (text: string): Result.Result<URL, InvalidPublicUrl> => {
  const url = URL.parse(text)
  const usable =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === "" &&
    url.pathname === "/"
  return usable ? Result.succeed(url) : Result.fail(new InvalidPublicUrl({ found: text }))
}

const isLoopback = (address: NetAddress.SocketAddress) =>
  !NetAddress.isInetAddress(address) || NetAddress.isLoopback(address.address)

/** Returns the /64 network of an IPv6 address, because one client can use the whole network. */
const networkOf = (address: NetAddress.IpAddress): string => {
  if (NetAddress.isIpv4Address(address)) return NetAddress.formatIp(address)
  return Option.match(NetAddress.fromIpv4Mapped(address), {
    onSome: NetAddress.formatIp,
    onNone: () => IpNetwork.format(IpNetwork.fromAddressUnsafe(address, 64)),
  })
}

/** Whether the address is loopback or private. A proxy in front of the service must have such an address. */
const isNear = (address: NetAddress.IpAddress): boolean => {
  if (NetAddress.isLoopback(address)) return true
  if (NetAddress.isIpv4Address(address)) return NetAddress.isPrivate(address)
  return NetAddress.isUniqueLocal(address) || Option.exists(NetAddress.fromIpv4Mapped(address), isNear)
}

const parseAddress = (text: string) => Result.getSuccess(NetAddress.ipFromString(text.trim()))

const make = Effect.fnUntraced(function* (options: { readonly publicUrl?: string | undefined }) {
  const { address } = yield* HttpServer.HttpServer
  const publicUrl =
    options.publicUrl === undefined ? undefined : yield* Effect.fromResult(parsePublicUrl(options.publicUrl))
  const loopback = isLoopback(address)
  const port = NetAddress.isInetAddress(address) ? address.port : 0

  // `Host` may have any port, because a tunnel or container may forward a different port to the service.
  const localNames = new Set(["localhost", "127.0.0.1", "[::1]"])
  localNames.add(new URL(HttpServer.formatAddress(address)).hostname)
  const answersTo = (host = "") =>
    !loopback ||
    (publicUrl !== undefined && host.toLowerCase() === publicUrl.host) ||
    localNames.has(host.replace(/:\d+$/, "")) ||
    localNames.has(URL.parse(`http://${host}`)?.hostname ?? "")

  /** Accepts the public origin. On loopback or without a public URL, also accepts an origin with the host in `Host`. */
  const isOwnOrigin = (origin: string, host: string | undefined) => {
    if (origin === publicUrl?.origin) return true
    if (!answersTo(host) || (publicUrl !== undefined && !loopback)) return false
    const from = URL.parse(origin)
    // Both schemes are accepted, because a proxy in front of the service may add TLS.
    return from !== null && /^https?:$/.test(from.protocol) && from.host === host?.toLowerCase()
  }

  const clientOf = ({ headers, remoteAddress }: HttpServerRequest.HttpServerRequest) => {
    const peer = Option.flatMap(remoteAddress, parseAddress)
    const forwarded =
      publicUrl !== undefined && Option.exists(peer, isNear)
        ? parseAddress((headers["x-forwarded-for"] ?? "").split(",").at(-1) ?? "")
        : Option.none()
    return Option.match(
      Option.orElse(forwarded, () => peer),
      { onNone: () => "unknown", onSome: networkOf },
    )
  }

  const local =
    NetAddress.isInetAddress(address) && NetAddress.isUnspecified(address.address)
      ? `http://127.0.0.1:${port}`
      : HttpServer.formatAddress(address)
  /** Whether browsers reach the service over TLS, so that cookies can require it. */
  const secure = publicUrl?.protocol === "https:"
  return {
    /** The origin to use in links to the service, without a trailing slash. */
    origin: publicUrl?.origin ?? local,
    secure,
    /** Whether nobody on the network can read the traffic: it uses TLS, or stays within this machine. */
    encrypted: secure || (loopback && (publicUrl === undefined || localNames.has(publicUrl.hostname))),
    /** Whether only this machine can reach the service: it is bound to loopback and has no public URL. */
    localOnly: loopback && publicUrl === undefined,
    answersTo,
    isOwnOrigin,
    clientOf,
  }
})

export class ServiceAddress extends Context.Service<ServiceAddress, Effect.Success<ReturnType<typeof make>>>()(
  "prefstream/service/ServiceAddress",
) {
  static readonly layer = (options: { readonly publicUrl?: string | undefined } = {}) =>
    Layer.effect(ServiceAddress, make(options))
}
