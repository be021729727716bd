/**
 * Security headers of all responses.
 *
 * Guarantees: pages run only the service's own script and style files, nothing inline, and connect only to the service;
 * no other site can frame, embed or open them with a reference; responses are not cached unless they set it themselves.
 */
import { HttpServerResponse } from "effect/http"

/** For what is not a page. */
const nothing = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/**
 * For the two pages, and the workers that they start. Completions are hostile text: should the
 * sanitizer let a script through, it is not run. Text becomes HTML or the address of a script by
 * the two policies that are named only (Trusted Types): the sanitizer's, and the one that starts the
 * page's worker.
 */
export const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types dompurify prefstream"

const always = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "x-frame-options": "DENY",
}

const usual = { ...always, "content-security-policy": nothing, "cache-control": "no-store" }

/** The answer with the headers; a policy and a way of caching that it has already stay. */
export const add = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(
    response,
    "content-security-policy" in response.headers || "cache-control" in response.headers
      ? { ...usual, ...response.headers }
      : usual,
  )
