import { networkInterfaces } from "node:os"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as Cluster from "../../src/node/Cluster.ts"
import { effectTest } from "../support/effectTest.ts"

const testLive = effectTest(it.live)

const towards = (url: string) => Cluster.addressTowards(Redacted.make(url))

const external = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)

describe("the address of a worker", () => {
  testLive("is loopback for a database on this machine, or one that cannot be found", function* () {
    for (const url of [
      "postgres://127.0.0.1/prefs",
      "postgres://me@127.0.0.2:6432/prefs",
      "postgres:///prefs",
      "postgres://me@elsewhere/prefs?host=/var/run/postgresql",
      "postgres://me@%2Fvar%2Frun%2Fpostgresql/prefs",
      "postgres://me@database.invalid/prefs",
    ]) {
      assert.include(["127.0.0.1", "::1"], yield* towards(url), url)
    }
  })

  it.live.skipIf(external === undefined)("is that of the network in which the database is", () =>
    Effect.gen(function* () {
      const address = external!.address
      assert.strictEqual(yield* towards(`postgres://me@${address}:6432/prefs`), address)
      assert.strictEqual(yield* towards(`postgres://me@localhost/prefs?host=${address}`), address)
    }),
  )
})
