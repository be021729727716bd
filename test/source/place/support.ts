/** What the tests of places have in common. */
import { ConfigProvider, Duration, Effect, Stream } from "effect"
import type { Input } from "../../../src/source/place/Input.ts"
import { RemoteTimeouts } from "../../../src/source/place/Remote.ts"
import { test as shared } from "../support.ts"

/** Bytes of which no piece is like another. */
export const pattern = (length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8) * 17 + (i >> 16) * 7) & 0xff
  return bytes
}

/** As plain bytes, which compare by content alone. */
export const collected = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Effect.Effect<Uint8Array, E, R> =>
  Effect.map(Stream.runCollect(bytes), (pieces) => new Uint8Array(Buffer.concat(pieces)))

export const bytesOf = (input: Input) => collected(input.bytes)

/** The message of the failure that is expected. */
export const failureOf = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

/** Retries without pauses. */
export const impatient = Effect.provideService(RemoteTimeouts, {
  idle: Duration.seconds(80),
  retries: 3,
  pause: Duration.millis(1),
})

/** With this environment alone. */
export const within = (env: Readonly<Record<string, string>>) =>
  Effect.provideService(
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromEnv({ env: { HOME: "/nonexistent", ...env } }),
  )

/** With the environment as it is now. */
export const nowadays = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => Effect.provideService(effect, ConfigProvider.ConfigProvider, ConfigProvider.fromEnv()))

/** Returns the way back. */
const setEnvironment = (cleared: RegExp, values: Readonly<Record<string, string>>) => {
  const before = { ...process.env }
  for (const name of Object.keys(before)) if (cleared.test(name)) delete process.env[name]
  Object.assign(process.env, values)
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

/**
 * Makes setters of the process's environment, which clients of other libraries read: in the scope, it has the defaults and
 * the values, and no other variable whose name matches.
 */
export const environmentOf =
  (cleared: RegExp, defaults: Readonly<Record<string, string>>) => (values: Readonly<Record<string, string>>) =>
    Effect.acquireRelease(
      Effect.sync(() => setEnvironment(cleared, { ...defaults, ...values })),
      (reset) => Effect.sync(reset),
    )

/** With real time, files and sockets; and with no HTTP client around, as the places bring their own. */
export const test = shared.live
