/**
 * Adapter: Effect Cluster over sockets, with the runners and their locks in PostgreSQL.
 *
 * Guarantees: a singleton runs on one of the connected runners, and starts on another if that one is lost. It waits for
 * `lease` before, because a runner that does not answer may only be slow. Locks are session locks of PostgreSQL, which
 * ends the session of a suspended runner. A suspended runner may still continue briefly after it resumes; preventing
 * that needs a fencing token (the epochs of `task/ledger/writes/Parts`).
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
  /** The prefix of its tables' names. Runners with the same prefix belong together. */
  readonly prefix: string
  /** The host at which other runners reach this one. */
  readonly host: string
  readonly port: number
  /** Time that a runner may be silent before its singletons move, at least `minLease`. */
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
        // If the database or another runner is unreachable for a moment, the cluster logs many messages with stack
        // traces.
        Layer.provide(
          Layer.effect(
            References.MinimumLogLevel,
            Effect.map(References.MinimumLogLevel, (asked) => (LogLevel.isLessThan(asked, "Info") ? asked : "None")),
          ),
        ),
      )
    }),
  )

/**
 * The address to listen on: the host's own address if it belongs to this machine, otherwise all addresses, because the
 * host may be that of a NAT.
 */
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
 * The address of this machine, or container, from which it connects to the server of a PostgreSQL URL. Other clients of
 * that server probably reach this machine at the same address. It is the loopback address for a server on this machine.
 * Nothing is sent.
 */
export const addressTowards = (url: Redacted.Redacted<string>) =>
  Effect.callback<string>((resume) => {
    const { hostname, searchParams } = new URL(Redacted.value(url))
    const host = searchParams.get("host") ?? (decodeURIComponent(hostname).replace(/^\[(.*)\]$/, "$1") || "localhost")
    const give = (address: string) => resume(Effect.succeed(address))
    if (host.startsWith("/")) return give(loopback)
    lookup(host, (failure, address, family) => {
      // The connection to the server will report the error.
      if (failure !== null) return give(loopback)
      const socket = createSocket(family === 6 ? "udp6" : "udp4")
      const end = (address: string) => {
        give(address)
        socket.close()
      }
      socket.once("error", () => end(loopback))
      // Connecting a datagram socket sends nothing; it only selects the route.
      socket.connect(5432, address, () => end(socket.address().address))
    })
  })

/** A port that no process listens on. */
export const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})
