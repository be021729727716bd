/**
 * Finds a URL's credentials: user and password in the URL, then `PREFSTREAM_HTTP_TOKENS` (`HOST=TOKEN`, separated by
 * spaces), then the host's entry in `.netrc`. The entry `default` is ignored, because every host would get it. Tokens
 * and entries are sent over `https`. Over `http`, they are sent only to a server on this machine.
 */
import { Effect, FileSystem, Path, Result } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { variable } from "../../io/Environment.ts"
import * as PrivateUrl from "../../io/PrivateUrl.ts"
import { unreadable } from "../record/SourceError.ts"

const tokensVariable = "PREFSTREAM_HTTP_TOKENS"

export const of = Effect.fnUntraced(function* (url: URL, name: string) {
  const { host, hostname, password, username } = url
  if (username !== "" || password !== "") {
    const authorization = basic(decodePercent(username), decodePercent(password))
    return { authorization, origin: "user and password in the URL" }
  }
  const isPrivate = PrivateUrl.isPrivate(url)
  const token = yield* tokenFor(host, name)
  if (token !== undefined) {
    if (isPrivate) return { authorization: `Bearer ${token}`, origin: `the token for ${host} in ${tokensVariable}` }
    return yield* unreadable(name, `the token in ${tokensVariable} would be sent unencrypted; use an https URL`)
  }
  const entry = isPrivate ? loginIn(yield* netrc, hostname) : undefined
  return entry && { authorization: basic(entry.login, entry.password), origin: `the entry for ${hostname} in .netrc` }
})

const tokenFor = Effect.fnUntraced(function* (host: string, name: string) {
  const entries = ((yield* variable(tokensVariable)) ?? "").split(/\s+/)
  const tokens = new Map<string, string>()
  for (const entry of entries.filter((entry) => entry !== "")) {
    const [, entryHost, token] = /^([^=/]+)=(.+)$/.exec(entry) ?? []
    if (entryHost === undefined || token === undefined) {
      return yield* unreadable(name, `${tokensVariable}: expected HOST=TOKEN, several separated by spaces`)
    }
    tokens.set(entryHost.toLowerCase(), token)
  }
  return tokens.get(host)
})

const netrc = Effect.gen(function* () {
  const { join } = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  const file = (yield* variable("NETRC")) ?? join((yield* variable("HOME")) ?? ".", ".netrc")
  return yield* Effect.orElseSucceed(fs.readFileString(file), () => "")
})

/** See https://everything.curl.dev/usingcurl/netrc.html */
const loginIn = (netrc: string, host: string) => {
  const withoutMacros = netrc.replaceAll(/^\s*#.*$|^\s*macdef\b[^]*?(?:\n\s*\n|$(?![^]))/gm, "")
  const words = (withoutMacros.match(/"(?:\\.|[^"\\])*"|\S+/g) ?? []).map((word) =>
    word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, "$1") : word,
  )
  const entry = { login: "", password: "" }
  let machine: string | undefined
  for (let i = 0; i < words.length; i += 2) {
    const [key, value = ""] = words.slice(i, i + 2)
    if (key === "machine" && machine === host) break
    if (key === "machine" || key === "default") machine = key === "machine" ? value : undefined
    if (key === "default") i--
    if (machine === host && (key === "login" || key === "password")) entry[key] = value
  }
  return entry.login === "" && entry.password === "" ? undefined : entry
}

const basic = (user: string, password: string): string =>
  `Basic ${Base64.encode(new TextEncoder().encode(`${user}:${password}`))}`

const decodePercent = (text: string): string =>
  Result.getOrElse(
    Result.try(() => decodeURIComponent(text)),
    () => text,
  )
