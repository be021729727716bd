/**
 * A PgBouncer of one's own in front of a server of `postgres.ts`: on a socket in the server's folder, gone with the scope,
 * and also when this process is killed.
 *
 * Needs Debian's `pgbouncer`, or the program at PGBOUNCER. Where there is none, tests are skipped; but not in CI, where that
 * is a failure.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { installed as hasPostgres, type Server, user } from "./postgres.ts"

const program = process.env["PGBOUNCER"] ?? "/usr/sbin/pgbouncer"

const isThere = existsSync(program)

if (!isThere && process.env["CI"] !== undefined) throw new Error("CI needs PgBouncer")

/** For `describe.skipIf` and `it.skipIf`. */
export const notInstalled = !isThere || !hasPostgres

/** Runs until its input ends, so that it does not outlive this process. */
const untilInputEnds = `"$@" </dev/null & read -r _; kill -TERM $!; wait $!`

export type PoolMode = "session" | "transaction" | "statement"

/** Of pgbouncer.ini, in its own words. */
export type Settings = Readonly<Record<string, string | number>>

let pools = 0

export const start = async (server: Server, settings: Settings & { readonly pool_mode: PoolMode }) => {
  const folder = join(server.folder, `pool-${++pools}`)
  mkdirSync(folder)
  const all = {
    listen_addr: "",
    listen_port: 5432,
    unix_socket_dir: folder,
    auth_type: "trust",
    auth_file: join(folder, "users.txt"),
    max_client_conn: 200,
    ...settings,
  }
  writeFileSync(join(folder, "users.txt"), '"prefstream" ""\n')
  writeFileSync(
    join(folder, "pgbouncer.ini"),
    `[databases]\n* = host=${server.folder}\n[pgbouncer]\n${Object.entries(all)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join("")}`,
  )
  // PgBouncer refuses to run as root, too.
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
  const child = spawn("sh", ["-c", untilInputEnds, "sh", program, join(folder, "pgbouncer.ini")], {
    ...user,
    cwd: folder,
    stdio: ["pipe", "ignore", "pipe"],
  })
  let said = ""
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()))
  const ended = once(child, "close").then(() => said)
  while (!said.includes("process up")) {
    const gone = await Promise.race([once(child.stderr, "data").then(() => false), ended.then(() => true)])
    if (gone) throw new Error(`PgBouncer did not start: ${said}`)
  }
  return {
    /** The URL of a database, through the pool. */
    url: (database: string, options: Readonly<Record<string, string>> = {}) =>
      `postgres://prefstream@localhost/${database}?${new URLSearchParams({ host: folder, ...options })}`,
    stop: () => (child.stdin.end(), ended),
  }
}
