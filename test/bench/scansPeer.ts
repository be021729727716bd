/**
 * What one would write with DuckDB in place of a command: `node test/bench/scansPeer.ts COMMAND ARGUMENT...`, for scans.ts.
 * Prints one JSON object.
 */
import { createHash } from "node:crypto"
import { createReadStream, readdirSync } from "node:fs"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { DuckDBInstance } from "@duckdb/node-api"

const [command, ...args] = process.argv.slice(2) as [string, ...ReadonlyArray<string>]
const isOnFile = command !== "verify" && command !== "count"
const database = command === "import" ? args[1]! : args[0]!
const connection = await (await DuckDBInstance.create(isOnFile ? database : ":memory:")).connect()
const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson()
const countOf = async (from: string) => Number((await rows(`SELECT count(*) AS n FROM ${from}`))[0]!["n"])

/** Davidson's model by gradient steps from the counts of each pair of models; 400 points for odds of 10 to 1. */
const rated = (counts: ReadonlyArray<Record<string, unknown>>) => {
  const names = [...new Set(counts.flatMap(({ a, b }) => [a as string, b as string]))]
  const games = counts.map(({ a, b, wins, ties, losses }) => ({
    a: names.indexOf(a as string),
    b: names.indexOf(b as string),
    wins: Number(wins),
    ties: Number(ties),
    losses: Number(losses),
  }))
  const abilities = names.map(() => 0)
  let tie = 0
  for (let step = 0; step < 5_000; step++) {
    const [gradient, curvature] = [names.map((_, i) => -abilities[i]! / 9), names.map(() => 1 / 9)]
    let [tieGradient, all] = [0, 0]
    for (const { a, b, losses, ties, wins } of games) {
      const n = wins + ties + losses
      const half = Math.exp((abilities[a]! - abilities[b]!) / 2)
      const total = half + 1 / half + Math.exp(tie)
      const slope = (wins - losses - (n * (half - 1 / half)) / total) / 2
      gradient[a]! += slope
      gradient[b]! -= slope
      curvature[a]! += n / 2
      curvature[b]! += n / 2
      tieGradient += ties - (n * Math.exp(tie)) / total
      all += n
    }
    for (const i of names.keys()) abilities[i]! += gradient[i]! / curvature[i]!
    tie += (4 * tieGradient) / all
    if (Math.max(...gradient.map((slope, i) => Math.abs(slope / curvature[i]!))) < 1e-7) break
  }
  const mean = abilities.reduce((sum, ability) => sum + ability, 0) / names.length
  const best = abilities.indexOf(Math.max(...abilities))
  return { model: names[best], rating: 1000 + (400 / Math.LN10) * (abilities[best]! - mean) }
}

const commands: Record<string, () => Promise<unknown>> = {
  import: async () => {
    const columns = ["id", "prompt", "response_a", "response_b", "model_a", "model_b", "annotator", "winner"]
    const types = `{${columns.map((name) => `${name}: 'VARCHAR'`).join(", ")}}`
    const read = `read_json('${args[0]}', format = 'newline_delimited', columns = ${types})`
    await rows(`CREATE TABLE votes AS SELECT id, annotator, winner FROM ${read}`)
    const texts = columns.slice(1, 6).map((name) => `any_value(${name}) AS ${name}`)
    await rows(`CREATE TABLE items AS SELECT id, ${texts.join(", ")} FROM ${read} GROUP BY id`)
    await rows("CHECKPOINT")
    return { votes: await countOf("votes") }
  },
  "export-votes": async () => {
    await rows(`COPY (SELECT * FROM votes JOIN items USING (id) ORDER BY id, annotator) TO '${args[1]}' (FORMAT json)`)
    return { votes: await countOf("votes") }
  },
  leaderboard: async () => {
    const sum = (winner: string) => `count(*) FILTER (winner = '${winner}')`
    return rated(
      await rows(
        `SELECT model_a AS a, model_b AS b, ${sum("model_a")} AS wins, ${sum("tie")} AS ties, ${sum("model_b")} AS losses
         FROM votes JOIN items USING (id) GROUP BY a, b`,
      ),
    )
  },
  verify: async () => {
    const files = readdirSync(args[0]!, { recursive: true, encoding: "utf8", withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => join(parentPath, name))
    const digests = []
    for (const file of files) {
      const hash = createHash("sha256")
      await pipeline(createReadStream(file), hash)
      digests.push(hash.digest("hex"))
    }
    const [parquet, lines] = [`'${args[0]}/data/*.parquet'`, `'${args[0]}/jsonl/*.jsonl'`]
    const compared = ["chosen", "rejected", "prompt", "item_id"]
    const different = compared.map((name) => `p.${name}::VARCHAR IS DISTINCT FROM j.${name}::VARCHAR`).join(" OR ")
    const found = await countOf(
      `read_parquet(${parquet}) p POSITIONAL JOIN read_json(${lines}, format = 'newline_delimited') j WHERE ${different}`,
    )
    if (found > 0) throw new Error(`${found} rows differ`)
    return { files: digests.length, pairs: await countOf(`read_parquet(${parquet})`) }
  },
  count: async () => ({ votes: await countOf(`read_json('${args[0]}', format = 'newline_delimited')`) }),
}
console.log(JSON.stringify(await commands[command]!()))
connection.closeSync()
