/**
 * Security headers for all responses. The pages run only the service's own scripts and styles, and no inline ones.
 * They connect only to the service, except for images from allowed hosts. Other sites cannot frame or embed them.
 */
import { Context, Option } from "effect"
import { HttpServerResponse } from "effect/http"

const denyAllPolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** Blocks scripts that the sanitizer misses. Trusted Types accept only the sanitizer's HTML and the worker's URL. */
export const pagePolicy = (imageHosts: ReadonlyArray<string>) =>
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; " +
  `img-src ${["'self'", "data:", ...imageHosts.map((host) => `https://${host}`)].join(" ")}; ` +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types dompurify prefstream"

export const ImageHosts = Context.Reference<ReadonlyArray<string>>("prefstream/service/ImageHosts", {
  defaultValue: () => [],
})

export const parseImageHost = (text: string): Option.Option<string> =>
  Option.fromUndefinedOr(
    /^[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$/i.test(text) ? URL.parse(`https://${text}`)?.host : undefined,
  )

const always = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "x-frame-options": "DENY",
}

const defaultHeaders = { ...always, "content-security-policy": denyAllPolicy, "cache-control": "no-store" }

/** Adds the security headers, but keeps a `Content-Security-Policy` or `Cache-Control` header that the response has. */
export const add = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(
    response,
    "content-security-policy" in response.headers || "cache-control" in response.headers
      ? { ...defaultHeaders, ...response.headers }
      : defaultHeaders,
  )
