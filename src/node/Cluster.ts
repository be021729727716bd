/**
 * Adapter: Effect Cluster. Each singleton runs in one of the connected processes (runners). If a runner is suspended,
 * another one may take over its singletons. When the suspended runner continues, `task/ledger/writes/Parts` prevents
 * this runner from sending tasks.
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
  /** Prefix of the cluster's table names. Runners with the same prefix form one cluster. */
  readonly prefix: string
  readonly host: string
  readonly port: number
  /** Another runner takes over if a runner does not answer for this time. At least `minLease`. */
  readonly lease: Duration.Duration
}

export const minLease = Duration.seconds(5)

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
        Layer.provide(
          // Without the database, the cluster logs many stack traces. `None` hides its logs, unless debug logs are on.
          Layer.effect(
            References.MinimumLogLevel,
            Effect.map(References.MinimumLogLevel, (level) => (LogLevel.isLessThan(level, "Info") ? level : "None")),
          ),
        ),
      )
    }),
  )

/** Returns `host` if this machine has that address. If not, as behind a NAT, returns the wildcard address. */
const listenHost = (host: string) =>
  Effect.callback<string>((resume) =>
    lookup(host, (failure, address, family) => {
      const isHere = Object.values(networkInterfaces()).some((own) => own?.some((at) => at.address === address))
      const everywhere = family === 6 ? "::" : "0.0.0.0"
      resume(Effect.succeed(failure !== null ? "0.0.0.0" : isHere ? address : everywhere))
    }),
  )

const loopback = "127.0.0.1"

/** This machine's address on the route to PostgreSQL. Other workers can probably reach this address. Sends no data. */
export const addressTowards = (url: Redacted.Redacted<string>) =>
  Effect.callback<string>((resume) => {
    const { hostname, searchParams } = new URL(Redacted.value(url))
    const host = searchParams.get("host") ?? (decodeURIComponent(hostname).replace(/^\[(.*)\]$/, "$1") || "localhost")
    const give = (address: string) => resume(Effect.succeed(address))
    if (host.startsWith("/")) return give(loopback)
    lookup(host, (failure, address, family) => {
      if (failure !== null) return give(loopback)
      const socket = createSocket(family === 6 ? "udp6" : "udp4")
      const end = (address: string) => {
        give(address)
        socket.close()
      }
      socket.once("error", () => end(loopback))
      socket.connect(5432, address, () => end(socket.address().address))
    })
  })

export const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})
