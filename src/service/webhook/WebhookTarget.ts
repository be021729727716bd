/**
 * Decides to which addresses webhooks may be delivered, so that a webhook's URL cannot give access to private networks.
 * Options can allow loopback and private networks. Link-local addresses are never allowed, because cloud servers can
 * get credentials there. The host is checked when an operator sets the URL. Its address is checked at each connection.
 */
import { Effect, Option } from "effect"
import ipaddr from "ipaddr.js"
import * as GuardedHttpClient from "../../node/GuardedHttpClient.ts"

export interface TargetPolicy {
  readonly allowLoopback: boolean
  /** Allows loopback, private networks (IPv4 and IPv6), and addresses of carrier-grade NAT (100.64.0.0/10). */
  readonly allowPrivate: boolean
}

type Kind = "public" | "loopback" | "private" | "never"

const rangeNames: Record<string, string> = {
  "6to4": "a tunnel's address",
  broadcast: "the broadcast address",
  carrierGradeNat: "a carrier network's address",
  deprecatedSiteLocal: "a private address",
  linkLocal: "a link-local address",
  loopback: "a loopback address",
  multicast: "a multicast address",
  private: "a private address",
  teredo: "a tunnel's address",
  uniqueLocal: "a private address",
  unspecified: "an unspecified address",
}

const privateRanges = new Set(["private", "carrierGradeNat", "uniqueLocal", "deprecatedSiteLocal"])

/** Public IPv6 addresses are in this range (global unicast). Other ranges are not public: some embed IPv4 addresses. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")
const nat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96")

const judge = (address: ipaddr.IPv4 | ipaddr.IPv6): { readonly kind: Kind; readonly range: string } => {
  if (address instanceof ipaddr.IPv6) {
    if (address.isIPv4MappedAddress()) return judge(address.toIPv4Address())
    if (address.match(nat64)) return judge(new ipaddr.IPv4(address.toByteArray().slice(-4)))
  }
  const range: string = address.range()
  if (range === "loopback") return { kind: "loopback", range }
  if (privateRanges.has(range)) return { kind: "private", range }
  const isInPublicRange = address instanceof ipaddr.IPv4 || address.match(globalUnicast)
  return { kind: range === "unicast" && isInPublicRange ? "public" : "never", range }
}

const onlyIfAllowed = "allowed only if the service is started with --allow-private-webhooks"

export const guard =
  (policy: TargetPolicy): GuardedHttpClient.Guard =>
  (address) => {
    if (!ipaddr.isValid(address)) return "not an address"
    const { kind, range } = judge(ipaddr.parse(address))
    const is = rangeNames[range] ?? "a reserved address"
    switch (kind) {
      case "public":
        return undefined
      case "loopback":
        return policy.allowLoopback || policy.allowPrivate ? undefined : `${is}, ${onlyIfAllowed}`
      case "private":
        return policy.allowPrivate ? undefined : `${is}, ${onlyIfAllowed}`
      case "never":
        return `${is}; webhooks are never sent to such an address`
    }
  }

/** Whether the delivery log may show responses from this address. Responses from private networks stay secret. */
export const showsAnswers =
  ({ allowLoopback }: TargetPolicy) =>
  (address: string): boolean => {
    const { kind } = judge(ipaddr.parse(address))
    return kind === "public" || (kind === "loopback" && allowLoopback)
  }

export const problem = Effect.fn("WebhookTarget.problem")(function* (
  text: string,
  client: GuardedHttpClient.GuardedHttpClientOptions,
) {
  if (!URL.canParse(text)) return Option.some("not a URL: expected something like https://example.com/webhook")
  const url = new URL(text)
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return Option.some(`deliveries go to https or http, not to ${url.protocol.replace(/:$/, "")}`)
  }
  if (url.username !== "" || url.password !== "") {
    return Option.some(
      "the URL contains a user name or a password; remove it, and verify the signature in the receiver instead",
    )
  }
  if (text.includes("#")) return Option.some("the URL has a fragment (#…), which would not be sent")
  return yield* GuardedHttpClient.check(GuardedHttpClient.hostOf(url), client).pipe(
    Effect.as(Option.none<string>()),
    Effect.catchTag("AddressRefused", (refused) => Effect.succeed(Option.some(refused.message))),
  )
})
