/**
 * A PostgreSQL server of one's own: in a new folder, on a socket in it, gone with the scope,
 * and also when this process is killed.
 *
 * Needs Debian's `postgresql`, or another one's programs at POSTGRES_BIN. Where there is none,
 * tests are skipped; but not in CI, where that is a failure.
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { made } from "./built.ts"

const debian = "/usr/lib/postgresql"

const newest = () =>
  existsSync(debian)
    ? readdirSync(debian)
        .toSorted((a, b) => Number(b) - Number(a))
        .map((version) => join(debian, version, "bin"))
        .find((bin) => existsSync(join(bin, "initdb")))
    : undefined

const binaries = process.env["POSTGRES_BIN"] ?? newest()

if (binaries === undefined && process.env["CI"] !== undefined) throw new Error("CI needs PostgreSQL's server programs")

export const installed = binaries !== undefined

/** For `describe.skipIf` and `it.skipIf`. */
export const notInstalled = !installed

/** PostgreSQL refuses to run as root. */
export const user =
  process.getuid?.() === 0 && installed
    ? { uid: Number(execFileSync("id", ["-u", "postgres"])), gid: Number(execFileSync("id", ["-g", "postgres"])) }
    : {}

/** Of the role `guarded`; `prefstream` needs none. */
export const password = "p@ss/word of a test"

const access = `local all guarded scram-sha-256
local all prefstream trust
`

const schemas = 250

const contents = `CREATE ROLE guarded LOGIN SUPERUSER PASSWORD '${password}';
DO $$ BEGIN FOR i IN 0..${schemas - 1} LOOP EXECUTE 'CREATE SCHEMA test_' || i; END LOOP; END $$`

/** Runs until its input ends, so that it does not outlive this process. */
const untilInputEnds = `"$@" </dev/null & read -r _; kill -INT $!; wait $!`

/** What a test may rely on: nothing survives a loss of power. */
const inTests = {
  autovacuum: "off",
  fsync: "off",
  full_page_writes: "off",
  listen_addresses: "",
  max_connections: "60",
  max_wal_senders: "0",
  shared_buffers: "16MB",
  wal_level: "minimal",
}

/** As durable as by default, for a server whose speed is measured. */
const durable = { ...inTests, fsync: "on", full_page_writes: "on", shared_buffers: "128MB" }

const start = async (folder: string, own: typeof inTests) => {
  const options = Object.entries({ ...own, unix_socket_directories: folder })
  const child = spawn(
    "sh",
    ["-c", untilInputEnds, "sh", join(binaries!, "postgres"), "-D", join(folder, "data")].concat(
      options.flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ),
    { ...user, cwd: folder, stdio: ["pipe", "ignore", "pipe"] },
  )
  let said = ""
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()))
  const ended = once(child, "close").then(() => said)
  while (!said.includes("ready to accept connections")) {
    const gone = await Promise.race([once(child.stderr, "data").then(() => false), ended.then(() => true)])
    if (gone) throw new Error(`PostgreSQL did not start: ${said}`)
  }
  return { ended, stop: () => (child.stdin.end(), ended) }
}

const newFolder = () => mkdtempSync(join(tmpdir(), "prefstream-pg-"))

/** With owners and times, which is much faster than to make a cluster. */
const copy = (from: string, to: string) => execFileSync("cp", ["-a", `${from}/.`, to])

/** A server, and how to stop and start it. */
export class Server {
  folder = ""
  #running: Awaited<ReturnType<typeof start>> | undefined
  #schemas = 0

  readonly #settings: typeof inTests

  constructor(settings = inTests) {
    this.#settings = settings
  }

  static readonly make = () => new Server().prepare()

  static readonly makeDurable = () => new Server(durable).prepare()

  /** Fills a new folder, and starts. */
  async prepare() {
    const empty = await made("postgres", ["test/support/postgres.ts"], async (folder) => {
      const first = new Server()
      first.folder = newFolder()
      if (user.uid !== undefined) chownSync(first.folder, user.uid, user.gid)
      execFileSync(
        join(binaries!, "initdb"),
        ["-D", join(first.folder, "data"), "-U", "prefstream", "--no-sync", "--encoding=UTF8", "--locale=C"],
        { ...user, cwd: first.folder, stdio: "pipe" },
      )
      writeFileSync(join(first.folder, "data", "pg_hba.conf"), access)
      await first.start()
      first.psql(contents)
      await first.stop()
      copy(first.folder, folder)
      await first.close()
    })
    this.folder = newFolder()
    copy(empty, this.folder)
    await this.start()
    return this
  }

  async start() {
    this.#running = await start(this.folder, this.#settings)
  }

  /** Ends all sessions, as an administrator's restart does. */
  async stop() {
    await this.#running?.stop()
    this.#running = undefined
  }

  /** kill -9 of the server itself; its sessions end with it. */
  async crash() {
    const [pid = ""] = readFileSync(join(this.folder, "data", "postmaster.pid"), "utf8").split("\n")
    process.kill(Number(pid), "SIGKILL")
    await this.#running?.stop()
    this.#running = undefined
  }

  async close() {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** The URL of a schema in the database `postgres`. */
  url(schema: string, login = "prefstream") {
    const options = { host: this.folder, options: `-csearch_path=${schema}` }
    return `postgres://${login}@localhost/postgres?${new URLSearchParams(options)}`
  }

  /** The same, for a role that needs the password, which stands in the URL only if it is given. */
  guardedUrl(schema: string, secret?: string) {
    return this.url(schema, secret === undefined ? "guarded" : `guarded:${encodeURIComponent(secret)}`)
  }

  /** A connection that stays open, for tests that ask again and again: starting `psql` takes longer than its answer. */
  connect(schema: string) {
    const runtime = ManagedRuntime.make(PgClient.layer({ url: Redacted.make(this.url(schema)) }))
    const rows = (statement: string): Promise<ReadonlyArray<ReadonlyArray<unknown>>> =>
      runtime.runPromise(Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(statement).values)).catch(() => [])
    return {
      /** The rows that a statement gives; none where its tables are not there yet, or the server is not. */
      rows,
      /** The first value. */
      value: async (statement: string): Promise<unknown> => (await rows(statement))[0]?.[0],
      close: () => runtime.dispose(),
    }
  }

  /** What `psql` says to a statement. */
  psql(statement: string, schema = "public", database = "postgres") {
    return execFileSync(
      join(binaries!, "psql"),
      ["-h", this.folder, "-U", "prefstream", "-d", database, "-XAtqc", statement],
      { env: { ...process.env, PGOPTIONS: `-csearch_path=${schema}` }, stdio: "pipe" },
    )
      .toString()
      .trim()
  }

  /** A new, empty schema's name. It is like a database of its own, but made in a moment. */
  newSchema() {
    if (this.#schemas === schemas) throw new Error(`a server has ${schemas} schemas`)
    return `test_${this.#schemas++}`
  }
}
