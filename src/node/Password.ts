/** Adapter: scrypt. Callers limit a password's length, because `normalize` takes quadratic time. */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto"
import { Context, Effect, Semaphore } from "effect"

interface Costs {
  readonly log2N: number
  readonly r: number
  readonly p: number
}

/** Costs of scrypt that OWASP recommends. A hash takes 64 MiB and about 0.3 s. */
export const Cost = Context.Reference<Costs>("prefstream/node/Password/Cost", {
  defaultValue: () => ({ log2N: 16, r: 8, p: 2 }),
})

const length = 32

const atOnce = Semaphore.makeUnsafe(2)

const derive = (password: string, salt: Uint8Array, { log2N, p, r }: Costs): Effect.Effect<Buffer> =>
  Effect.callback<Buffer>((resume) => {
    const N = 2 ** log2N
    // Other systems may send the same password in another Unicode form.
    scrypt(password.normalize("NFC"), salt, length, { N, r, p, maxmem: 128 * r * (N + p) + 2 ** 20 }, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.die(error)),
    )
    // A hash cannot be stopped after it has begun, so it holds its permit until it ends.
  }).pipe(Effect.uninterruptible, atOnce.withPermits(1))

const toText = ({ log2N, p, r }: Costs, salt: Buffer, key: Buffer) =>
  `$scrypt$ln=${log2N},r=${r},p=${p}$${salt.toString("base64url")}$${key.toString("base64url")}`

export const hash = Effect.fn("Password.hash")(function* (password: string) {
  const salt = yield* Effect.sync(() => randomBytes(16))
  const cost = yield* Cost
  return toText(cost, salt, yield* derive(password, salt, cost))
})

/** Without a stored hash, the check takes as long as with one, so that its duration reveals nothing. */
export const verify = Effect.fn("Password.verify")(function* (password: string, stored: string | undefined) {
  const parts = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/.exec(stored ?? "")
  if (parts === null) {
    if (stored !== undefined) return yield* Effect.die(new Error("a stored password is not a scrypt hash"))
    yield* derive(password, Buffer.alloc(16), yield* Cost)
    return false
  }
  const [, log2N, r, p, salt = "", expected = ""] = parts
  const key = yield* derive(password, Buffer.from(salt, "base64url"), {
    log2N: Number(log2N),
    r: Number(r),
    p: Number(p),
  })
  const bytes = Buffer.from(expected, "base64url")
  return bytes.length === key.length && timingSafeEqual(bytes, key)
})
