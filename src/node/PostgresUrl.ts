/** Adapter: checks PostgreSQL URLs. Texts that it returns contain no password. */
import { Option, Redacted, Result } from "effect"

export interface Login {
  /** `postgres://user:password@host:port/database`; every part except the host may be left out. */
  readonly url: Redacted.Redacted<string>
  /** Used if the URL has no password. */
  readonly password?: Redacted.Redacted<string> | undefined
}

/** Removes the password and all parameters, because a parameter may contain a password. */
export const redact = (url: Redacted.Redacted<string>): string =>
  Result.match(
    Result.try(() => new URL(Redacted.value(url))),
    {
      onFailure: () => "the PostgreSQL database",
      onSuccess: ({ host, pathname, protocol, searchParams, username }) =>
        `${protocol}//${username === "" ? "" : `${username}@`}${searchParams.get("host") ?? host}${pathname}`,
    },
  )

const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]

const isDecodable = (text: string): boolean => Result.isSuccess(Result.try(() => decodeURIComponent(text)))

export const findProblem = (url: URL): Option.Option<string> => {
  const { hostname, password, pathname, searchParams, username } = url
  const wrong = (name: string, isRight: (value: string) => boolean, expected: string) =>
    searchParams.getAll(name).flatMap((value) => (isRight(value) ? [] : [`${name}=${value}: expected ${expected}`]))
  return Option.fromUndefinedOr(
    [
      ...([hostname, password, pathname, username].every(isDecodable)
        ? []
        : ["each % must be followed by two hexadecimal digits"]),
      ...wrong("sslmode", (mode) => sslModes.includes(mode), sslModes.join(", ")),
      ...wrong("connect_timeout", (time) => /^\d{1,9}$/.test(time), "a whole number of seconds"),
      ...wrong("port", (port) => /^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536, "a port"),
    ][0],
  )
}

export const credentials = ({ password, url }: Login) => ({ url, ...(!hasPassword(url) && { password }) })

const hasPassword = (url: Redacted.Redacted<string>): boolean =>
  Result.match(
    Result.try(() => new URL(Redacted.value(url))),
    { onFailure: () => false, onSuccess: (url) => url.password !== "" || url.searchParams.has("password") },
  )
