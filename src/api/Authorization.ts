/** Adds the organization token to requests, as the setting `authorization` of `ServiceProfile` says. */
import { Redacted } from "effect"
import { Base64 } from "effect/encoding"
import { HttpClientRequest } from "effect/http"

export const form =
  "a scheme such as Bearer, Basic, or Token, or a header name with a colon, such as 'X-Api-Key:' or 'X-Auth: Key'"

const word = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const pattern = new RegExp(`^(?:(${word}):)?[ ]?(${word})?$`)

export const isValid = (setting: string): boolean => setting !== "" && pattern.test(setting)

/** Returns a function that adds the token to a request. An invalid setting counts as `Bearer`. */
export const of = ({ authorization }: { readonly authorization: string }) => {
  const [, header, scheme = header === undefined ? "Bearer" : ""] = pattern.exec(authorization) ?? []
  return (request: HttpClientRequest.HttpClientRequest, token: Redacted.Redacted<string>) => {
    const plain = Redacted.value(token)
    const value = scheme.toLowerCase() === "basic" ? Base64.encode(plain) : plain
    return HttpClientRequest.setHeader(request, header ?? "authorization", `${scheme} ${value}`.trimStart())
  }
}
