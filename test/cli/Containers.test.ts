/** What Dockerfile and compose.yaml say, against the files and the command line: their commands are carried out as processes would be. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Schema } from "effect"
import { parse } from "yaml"
import manifest from "../../package.json" with { type: "json" }
import { freePort } from "../../src/node/Cluster.ts"
import { parseDuration } from "../../src/cli/flags/Values.ts"
import { defaultGrace } from "../../src/pipeline/Stop.ts"
import { cli, cliStarted, ends } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { describePostgres } from "../support/describePostgres.ts"
import { bin, root, spawned } from "../support/process.ts"

const read = (file: string) => readFileSync(`${root}${file}`, "utf8")

const Service = Schema.Struct({
  build: Schema.optionalKey(Schema.Literal(".")),
  image: Schema.optionalKey(Schema.String),
  command: Schema.optionalKey(Schema.Array(Schema.String)),
  environment: Schema.Record(Schema.String, Schema.String),
  volumes: Schema.Array(Schema.String),
  depends_on: Schema.optionalKey(Schema.Record(Schema.String, Schema.Struct({ condition: Schema.String }))),
  healthcheck: Schema.optionalKey(Schema.Struct({ test: Schema.Array(Schema.String) })),
  profiles: Schema.optionalKey(Schema.Array(Schema.String)),
  stop_grace_period: Schema.optionalKey(Schema.String),
})

const Compose = Schema.Struct({
  services: Schema.Struct({ database: Service, service: Service, worker: Service, status: Service, export: Service }),
  volumes: Schema.Record(Schema.String, Schema.Unknown),
})

const token = "token-of-a-test"

/** As Compose reads it, with PREFSTREAM_TOKEN set and nothing else. */
const { services, volumes } = Schema.decodeUnknownSync(Compose)(
  parse(
    read("compose.yaml")
      .replaceAll(/\$\{PREFSTREAM_TOKEN:\?[^}]*\}/g, token)
      .replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1"),
    { merge: true },
  ),
)

describe("Dockerfile", () => {
  const instructions = read("Dockerfile")
    .split("\n")
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => line.split(" "))

  it("copies files that are there, and that .dockerignore lets through", () => {
    const passed = read(".dockerignore")
      .split("\n")
      .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []))
    assert.include(read(".dockerignore").split("\n"), "*")
    for (const file of passed) assert.isTrue(existsSync(`${root}${file}`), file)
    const copied = instructions.flatMap(([name, ...words]) =>
      name === "COPY" && !words[0]!.startsWith("--") ? words.slice(0, -1) : [],
    )
    assert.includeMembers([...passed, "."], copied)
    // What `npm pack` builds and packs; npm adds the last two by itself.
    assert.includeMembers(passed, [...manifest.files.filter((file) => file !== "dist"), "README.md", "LICENSE"])
  })

  it("runs on the Node that the project is developed on, as another user than root", () => {
    const images = instructions.flatMap(([name, image]) => (name === "FROM" ? [image] : []))
    const [, major] = /^\^(\d+)/.exec(manifest.devDependencies.node)!
    assert.deepStrictEqual(new Set(images), new Set([`node:${major}-slim`]))
    assert.deepStrictEqual(
      instructions.find(([name]) => name === "USER"),
      ["USER", "node"],
    )
    assert.include(
      instructions.map((words) => words.join(" ")),
      'ENTRYPOINT ["prefstream"]',
    )
  })
})

const [user, anybody] = [54_321, { uid: 54_321, gid: 54_321, env: { PATH: process.env["PATH"] } }]

/** Whether a test can start a process as a user without name or home folder, who can read the sources. */
const canBeAnybody = (() => {
  try {
    execFileSync(process.execPath, ["--eval", `require("node:fs").readFileSync(${JSON.stringify(bin)})`], {
      ...anybody,
      stdio: "ignore",
    })
    return process.getuid?.() !== user
  } catch {
    return false
  }
})()

it.skipIf(!canBeAnybody)("prefstream runs as a user without name or home folder", () => {
  const said = execFileSync(
    process.execPath,
    ["--conditions=prefstream-source", bin, "inspect", `${root}data/sample.jsonl`],
    {
      ...anybody,
      stdio: "pipe",
    },
  )
  assert.include(said.toString(), "72")
})

describe("compose.yaml", () => {
  it("names folders, volumes and services that are there", () => {
    const mounted = Object.values(services).flatMap((service) => service.volumes.map((volume) => volume.split(":")[0]!))
    for (const place of mounted) {
      assert.isTrue(place.startsWith("./") ? existsSync(`${root}${place}`) : place in volumes, place)
    }
    assert.deepStrictEqual(
      Object.keys(volumes).toSorted(),
      [...new Set(mounted)].filter((place) => place in volumes).toSorted(),
    )
    for (const [name, { condition }] of Object.entries(services.worker.depends_on ?? {})) {
      assert.strictEqual(condition, "service_healthy")
      assert.isDefined(services[name as keyof typeof services].healthcheck, name)
    }
    assert.deepStrictEqual(
      Object.entries(services).flatMap(([name, { build }]) => (build === undefined ? [] : [name])),
      ["service", "worker", "status", "export"],
    )
    assert.deepStrictEqual([services.status.profiles, services.export.profiles], [["tools"], ["tools"]])
  })

  it("lets workers finish what is pending", () => {
    const grace = parseDuration(services.worker.stop_grace_period!)
    assert.isTrue(grace._tag === "Some" && Duration.isGreaterThan(grace.value, defaultGrace))
  })

  describePostgres("with PostgreSQL", (server) => {
    test("has a worker send the sample to the service, and exports the dataset", function* () {
      const folder = yield* temporaryDirectory
      mkdirSync(`${folder}/service`)
      const here = ({ command = [] }: typeof Service.Type) =>
        command.map((word) =>
          word.replace(/(^|[=:])\/data\//, `$1${root}data/`).replace(/(^|=)\/(job|service)(?=$|\/)/, `$1${folder}/$2`),
        )
      const schema = server.newSchema()
      const port = String(yield* freePort)
      const served = yield* cliStarted([...here(services.service), `--port=${port}`], services.service.environment)
      yield* served.talks(/listens at http:\/\/localhost:8484\/v1 /)
      const [, program = "", ...words] = services.service.healthcheck!.test
      assert.strictEqual(program, "node")
      const asked = words.map((word) => word.replace(":8484/", `:${port}/`))
      yield* Effect.promise(() => spawned(process.execPath, asked).ended).pipe(ends(0))

      const env = ({ environment }: typeof Service.Type) => ({
        ...environment,
        PREFSTREAM_LEDGER: server.url(schema),
        PREFSTREAM_BASE_URL: environment["PREFSTREAM_BASE_URL"]!.replace("service:8484", `127.0.0.1:${port}`),
      })
      const worker = yield* cliStarted([...here(services.worker), "--poll-min=50ms"], env(services.worker))
      yield* worker.talks(/^Worker 127\.0\.0\.1:\d+ of job default/m)
      const status = cli(here(services.status), env(services.status))
      yield* Effect.repeat(status, { until: ({ stdout }) => stdout.startsWith("All tasks are done.") })
      assert.strictEqual((yield* worker.stop()).status, 0)

      yield* cli(here(services.export), env(services.export)).pipe(ends(0))
      assert.isTrue(existsSync(`${folder}/job/dataset/manifest.json`))
    })
  })
})
