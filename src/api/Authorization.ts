/**
 * How requests carry the organization token.
 *
 * A setting is a scheme of the header `Authorization` (`Bearer`, `Token`; `Basic` encodes the token, which is then
 * `USER:PASSWORD`), or another header with an optional scheme: `X-Api-Key:`, `X-Auth: Key`.
 */
import { Redacted } from "effect"
import { Base64 } from "effect/encoding"
import { HttpClientRequest } from "effect/http"

/** The required form of a setting, for messages. */
export const form = "a scheme such as Bearer, Basic or Token, or a header such as X-Api-Key: or X-Auth: Key"

const word = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const pattern = new RegExp(`^(?:(${word}):)?[ ]?(${word})?$`)

export const isValid = (setting: string): boolean => setting !== "" && pattern.test(setting)

/** Returns a function that adds the token. An invalid setting counts as `Bearer`. */
export const of = ({ authorization }: { readonly authorization: string }) => {
  const [, header, scheme = header === undefined ? "Bearer" : ""] = pattern.exec(authorization) ?? []
  return (request: HttpClientRequest.HttpClientRequest, token: Redacted.Redacted<string>) => {
    const plain = Redacted.value(token)
    const value = scheme.toLowerCase() === "basic" ? Base64.encode(plain) : plain
    return HttpClientRequest.setHeader(request, header ?? "authorization", `${scheme} ${value}`.trimStart())
  }
}
