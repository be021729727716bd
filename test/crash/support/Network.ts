/**
 * A network of its own for a process (Linux's network namespaces), whose way to the database can be cut while that to all
 * else stays. Needs root, and `ip`.
 */
import { execFileSync } from "node:child_process"
import { type AddressInfo, connect, createServer } from "node:net"

const ip = (...args: ReadonlyArray<string>) => execFileSync("ip", args, { stdio: "pipe" }).toString()

/** Whether this machine allows it. */
export const isPossible = (() => {
  try {
    ip("netns", "list")
    return process.getuid?.() === 0
  } catch {
    return false
  }
})()

/** Passes connections on to an address or a socket; gives its port. */
export const passing = async (host: string, to: { readonly port: number } | { readonly path: string }) => {
  const server = createServer((from) => {
    const target = connect(to)
    from.pipe(target).pipe(from)
    from.on("error", () => target.destroy())
    target.on("error", () => from.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  server.unref()
  return (server.address() as AddressInfo).port
}

export interface Network {
  /** What stands before a command that runs in it. */
  readonly before: ReadonlyArray<string>
  /** The addresses of its own end, and of this machine's, on the way that stays. */
  readonly inside: string
  readonly outside: string
  /** This machine's address on the way to the database. */
  readonly database: string
  readonly cut: () => void
  readonly mend: () => void
  readonly close: () => void
}

/** Those that a killed run has left, and others that are in use, keep their numbers. */
const numbers = 100

export const make = (): Network => {
  const names = new Set(ip("netns", "list").split(/\s/))
  const number = Array.from({ length: numbers }, (_, i) => i).find((i) => !names.has(`prefstream-${i}`))
  if (number === undefined) throw new Error(`${numbers} namespaces prefstream-N are left: ip netns del`)
  const space = `prefstream-${number}`
  ip("netns", "add", space)
  const [toDatabase, toAll] = [`10.213.${2 * number}`, `10.213.${2 * number + 1}`]
  const ways = [
    [`pfdb${number}`, toDatabase],
    [`pfsv${number}`, toAll],
  ] as const
  const links = ip("-o", "link")
  for (const [outside, net] of ways) {
    if (links.includes(` ${outside}@`)) ip("link", "del", outside)
    ip("link", "add", outside, "type", "veth", "peer", "name", `${outside}i`, "netns", space)
    ip("addr", "add", `${net}.1/24`, "dev", outside)
    ip("link", "set", outside, "up")
    ip("-n", space, "addr", "add", `${net}.2/24`, "dev", `${outside}i`)
    ip("-n", space, "link", "set", `${outside}i`, "up")
  }
  ip("-n", space, "link", "set", "lo", "up")
  return {
    before: ["ip", "netns", "exec", space],
    inside: `${toAll}.2`,
    outside: `${toAll}.1`,
    database: `${toDatabase}.1`,
    cut: () => ip("link", "set", `pfdb${number}`, "down"),
    mend: () => ip("link", "set", `pfdb${number}`, "up"),
    close: () => ip("netns", "del", space),
  }
}
