/**
 * Adapter: Effect Cluster over sockets, with the runners and their locks in PostgreSQL.
 *
 * Guarantees: a singleton runs on one of the connected runners, and starts on another when that one is lost: after
 * `lease`, since a runner that does not answer may only be slow. Locks are session locks of PostgreSQL, which
 * ends the session of a suspended runner. Does not stop a suspended runner from continuing briefly after it resumes; that
 * needs a fencing token (the epochs of `task/ledger/writes/Parts`).
 */
import { createSocket } from "node:dgram"
import { lookup } from "node:dns"
import { createServer } from "node:net"
import { networkInterfaces } from "node:os"
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import { MessageStorage, RunnerAddress, ShardingConfig, SqlRunnerStorage } from "effect/cluster"
import { Duration, Effect, Layer, LogLevel, Option, Redacted, References } from "effect"
import { clusterConnections } from "./PostgresPooler.ts"
import { credentials, type Login } from "./PostgresUrl.ts"

export interface ClusterOptions extends Login {
  /** What the names of its tables begin with. Runners with the same prefix belong together. */
  readonly prefix: string
  /** Where the other runners reach this one. */
  readonly host: string
  readonly port: number
  /** How long a runner may be silent before its singletons move, `minLease` or more. */
  readonly lease: Duration.Duration
}

export const minLease = Duration.seconds(5)

/** Runs singletons together with the other runners. */
export const layer = ({ host, lease, password, port, prefix, url }: ClusterOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { PgClient } = yield* Effect.promise(() => import("@effect/sql-pg"))
      const settings = {
        runnerAddress: Option.some(RunnerAddress.make(host, port)),
        runnerListenAddress: Option.some(RunnerAddress.make(yield* listenHost(host), port)),
        shardLockExpiration: lease,
        shardLockRefreshInterval: Duration.divideUnsafe(lease, 4),
        refreshAssignmentsInterval: Duration.seconds(1),
        runnerHealthCheckInterval: lease,
      }
      const sql = PgClient.layer({
        ...credentials({ password, url }),
        applicationName: "prefstream cluster",
        maxConnections: clusterConnections,
      })
      return NodeClusterSocket.layer({ storage: "byo", shardingConfig: settings }).pipe(
        Layer.provide(MessageStorage.layerNoop),
        Layer.provide(SqlRunnerStorage.layerWith({ prefix })),
        Layer.provide(ShardingConfig.layer(settings)),
        Layer.provide(sql),
        // Where the database, or another runner, is away for a moment, it says much, with stacks.
        Layer.provide(
          Layer.effect(
            References.MinimumLogLevel,
            Effect.map(References.MinimumLogLevel, (asked) => (LogLevel.isLessThan(asked, "Info") ? asked : "None")),
          ),
        ),
      )
    }),
  )

/** Where to listen for those who reach this machine at a host: there, or anywhere where the host is another's, such as a NAT's. */
const listenHost = (host: string) =>
  Effect.callback<string>((resume) =>
    lookup(host, (failure, address, family) => {
      const isHere = Object.values(networkInterfaces()).some((own) => own?.some((at) => at.address === address))
      const everywhere = family === 6 ? "::" : "0.0.0.0"
      resume(Effect.succeed(failure !== null ? "0.0.0.0" : isHere ? address : everywhere))
    }),
  )

const loopback = "127.0.0.1"

/**
 * The address of this machine, or container, from which it reaches the server of a PostgreSQL URL, and at which others that
 * reach the server are likely to reach it: loopback for a server on this machine. Nothing is sent.
 */
export const addressTowards = (url: Redacted.Redacted<string>) =>
  Effect.callback<string>((resume) => {
    const { hostname, searchParams } = new URL(Redacted.value(url))
    const host = searchParams.get("host") ?? (decodeURIComponent(hostname).replace(/^\[(.*)\]$/, "$1") || "localhost")
    const give = (address: string) => resume(Effect.succeed(address))
    if (host.startsWith("/")) return give(loopback)
    lookup(host, (failure, address, family) => {
      // The connection to the server will say what is wrong.
      if (failure !== null) return give(loopback)
      const socket = createSocket(family === 6 ? "udp6" : "udp4")
      const end = (address: string) => {
        give(address)
        socket.close()
      }
      socket.once("error", () => end(loopback))
      // Of a datagram socket this sends nothing, but chooses the route.
      socket.connect(5432, address, () => end(socket.address().address))
    })
  })

/** A port that nobody listens at. */
export const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})
